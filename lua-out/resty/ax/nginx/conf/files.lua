local tonumber = tonumber
local ____exports = {}
local readOpened, hasNul, SEEK_SET, SEEK_END
local ffi = require("ffi")
local ____libc = require("resty.ax.nginx.conf.libc")
local lastError = ____libc.lastError
local libc = ____libc.libc
function readOpened(fd, max_bytes)
    local size = tonumber(libc.ax_lseek(fd, 0, SEEK_END)) or -1
    if size < 0 then
        local count = tonumber(libc.ax_read(
            fd,
            ffi.new("char[1]"),
            0
        )) or -1
        if count < 0 then
            return nil, lastError()
        end
        return "", nil
    end
    libc.ax_lseek(fd, 0, SEEK_SET)
    local wanted = (size > max_bytes or size < 1) and 1 or size
    local buffer = ffi.new("char[?]", wanted)
    local filled = 0
    while filled < wanted do
        local at = ffi.cast("char *", buffer) + filled
        local count = tonumber(libc.ax_read(fd, at, wanted - filled)) or -1
        if count < 0 then
            return nil, lastError()
        end
        if count == 0 then
            break
        end
        filled = filled + count
    end
    if size > max_bytes then
        return nil, ((("its " .. tostring(size)) .. " bytes are more than the ") .. tostring(max_bytes)) .. " that may still be read"
    end
    return ffi.string(buffer, size < filled and size or filled), nil
end
function hasNul(text)
    return (string.find(text, "\0", 1, true)) ~= nil
end
--- O_NONBLOCK | O_CLOEXEC on Linux: a pipe that nobody writes to must not keep nginx from starting.
local OPEN_FLAGS = 526336
SEEK_SET = 0
SEEK_END = 2
--- What glob(3) returns when no file matches.
local GLOB_NOMATCH = 3
local NUL_IN_NAME = "there is a NUL byte in the name"
--- Reads a file as nginx reads its configuration: as many bytes as the file's size says, so that
-- pipes and devices count as empty. Init phase: it blocks.
-- 
-- @param path path of the file
-- @param max_bytes a longer file is an error
-- @returns the text, or undefined and the reason
function ____exports.readFile(path, max_bytes)
    if hasNul(path) then
        return nil, NUL_IN_NAME
    end
    local fd = libc.ax_open(
        path,
        ffi.cast("int", OPEN_FLAGS)
    )
    if fd < 0 then
        return nil, lastError()
    end
    local text, err = readOpened(fd, max_bytes)
    libc.ax_close(fd)
    return text, err
end
---
-- @returns whether nginx takes the name of an included file as a pattern
function ____exports.isPattern(path)
    return (string.find(path, "[*?[]")) ~= nil
end
--- The files that match a pattern, in glob(3)'s order, which is nginx's. Init phase: it blocks.
-- 
-- @param pattern full path with *, ? or […]
-- @returns the paths (none is no error, as in nginx), or undefined and the reason
function ____exports.matchingFiles(pattern)
    if hasNul(pattern) then
        return nil, NUL_IN_NAME
    end
    local found = ffi.new("struct ax_glob")
    local result = libc.ax_glob(pattern, 0, nil, found)
    if result == GLOB_NOMATCH then
        return {}, nil
    end
    if result ~= 0 then
        return nil, "glob() failed: " .. lastError()
    end
    local paths = {}
    local count = tonumber(found.gl_pathc) or 0
    do
        local i = 0
        while i < count do
            paths[#paths + 1] = ffi.string(found.gl_pathv[i])
            i = i + 1
        end
    end
    libc.ax_globfree(found)
    return paths, nil
end
---
-- @returns the path as it is when absolute, else within the directory (which ends in "/")
function ____exports.fullPath(directory, path)
    return string.sub(path, 1, 1) == "/" and path or directory .. path
end
---
-- @returns the directory of a file, ending in "/"; "" when the path has no directory in it
function ____exports.directoryOf(path)
    return (string.match(path, "^.*/")) or ""
end
return ____exports
