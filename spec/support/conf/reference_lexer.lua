-- nginx's own loop over characters (ngx_conf_read_token in src/core/ngx_conf_file.c), carried over
-- line by line, as a yardstick for the lexer under test, which jumps from one special character to
-- the next.

local BLANK = { [" "] = true, ["\t"] = true, ["\r"] = true, ["\n"] = true }
local CONTROL = { t = "\t", r = "\r", n = "\n" }

local function unescape(source)
  local word, src = {}, 1
  while src <= #source do
    local ch, after = source:sub(src, src), source:sub(src + 1, src + 1)
    if ch == "\\" and CONTROL[after] then
      word[#word + 1] = CONTROL[after]
      src = src + 2
    else
      if ch == "\\" and (after == '"' or after == "'" or after == "\\") then
        src = src + 1
      end
      word[#word + 1] = source:sub(src, src)
      src = src + 1
    end
  end
  return table.concat(word)
end

-- Returns the words and the ending (";", "{", "}", "eof" or "error") of the statement at `pos`, and
-- the position behind it.
return function(text, pos)
  local words = {}
  local need_space, last_space, sharp_comment, variable = false, true, false, false
  local quoted, s_quoted, d_quoted, found = false, false, false, false
  local start = pos

  while true do
    if pos > #text then
      if #words > 0 or not last_space then
        return words, "error", pos
      end
      return words, "eof", pos
    end
    local ch = text:sub(pos, pos)
    pos = pos + 1

    if ch == "\n" then
      sharp_comment = false
    end
    if sharp_comment then
      goto continue
    end
    if quoted then
      quoted = false
      goto continue
    end
    if need_space then
      if BLANK[ch] then
        last_space, need_space = true, false
        goto continue
      end
      if ch == ";" or ch == "{" then
        return words, ch, pos
      end
      if ch ~= ")" then
        return words, "error", pos
      end
      last_space, need_space = true, false
    end
    if last_space then
      start = pos - 1
      if BLANK[ch] then
        goto continue
      end
      if ch == ";" or ch == "{" then
        return words, #words == 0 and "error" or ch, pos
      elseif ch == "}" then
        return words, #words == 0 and ch or "error", pos
      elseif ch == "#" then
        sharp_comment = true
        goto continue
      end
      last_space = false
      if ch == "\\" then
        quoted = true
      elseif ch == '"' then
        start = start + 1
        d_quoted = true
      elseif ch == "'" then
        start = start + 1
        s_quoted = true
      elseif ch == "$" then
        variable = true
      end
    else
      if ch == "{" and variable then
        goto continue
      end
      variable = false
      if ch == "\\" then
        quoted = true
        goto continue
      end
      if ch == "$" then
        variable = true
        goto continue
      end
      if d_quoted then
        if ch == '"' then
          d_quoted, need_space, found = false, true, true
        end
      elseif s_quoted then
        if ch == "'" then
          s_quoted, need_space, found = false, true, true
        end
      elseif BLANK[ch] or ch == ";" or ch == "{" then
        last_space, found = true, true
      end
      if found then
        words[#words + 1] = unescape(text:sub(start, pos - 2))
        if ch == ";" or ch == "{" then
          return words, ch, pos
        end
        found = false
      end
    end
    ::continue::
  end
end
