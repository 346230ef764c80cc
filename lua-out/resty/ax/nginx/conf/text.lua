local ____exports = {}
---
-- @returns the byte at a position, or undefined past the end
function ____exports.byteAt(content, pos)
    local code = string.byte(content, pos, pos)
    return code
end
---
-- @param pos not before any position asked for earlier
-- @returns the line of a position, counted from 1
function ____exports.lineAt(text, pos)
    do
        while true do
            local newline = string.find(text.content, "\n", text.counted_to, true)
            if newline == nil or newline >= pos then
                break
            end
            text.line = text.line + 1
            text.counted_to = newline + 1
        end
    end
    return text.line
end
return ____exports
