local lexer = require("resty.ax.nginx.conf.lexer")
local reference = require("conf.reference_lexer")
local text = require("resty.ax.nginx.conf.text")

local function read(content)
  local lex = lexer.newLexer("f", content)
  local ending, err = lexer.readStatement(lex)
  return lex.words, ending, err, lex
end

describe("nginx.conf lexer", function()
  it("separates words by blanks and line ends, and takes away quotes", function()
    local words, ending = read("  log\tmain\r\n'a b;' \"c{'d}\" ; x;")
    assert.same({ "log", "main", "a b;", "c{'d}" }, words)
    assert.equal(";", ending)
  end)

  it("replaces the escapes that nginx replaces and keeps the others", function()
    assert.same({ 'a"b', "c\td\ne\rf", "g\\h", "i\\.j", "k\\x l" }, (read([["a\"b" c\td\ne\rf g\\h i\.j "k\x l";]])))
  end)

  it("keeps an escaped blank, semicolon or brace within the word", function()
    assert.same({ "a\\ b", "c\\;d", "e\\{" }, (read("a\\ b c\\;d e\\{;")))
  end)

  it("takes # for a comment only between words", function()
    assert.same({ "a#b", "c", "#d" }, (read("# x; {\na#b c # y ;\n'#d';")))
  end)

  it("does not take quotes within a word for quotes", function()
    assert.same({ "a='b", "c'" }, (read("a='b c';")))
  end)

  it("does not open a block at ${", function()
    assert.same({ "proxy_pass", "http://${host}:80" }, (read("proxy_pass http://${host}:80;")))
    local words, ending = read("map $x{")
    assert.same({ "map", "$x" }, words)
    assert.equal("{", ending)
  end)

  it("lets a closing parenthesis follow a quote", function()
    local words, ending = read('if ($a = "b") { x; }')
    assert.same({ "if", "($a", "=", "b", ")" }, words)
    assert.equal("{", ending)
  end)

  it("tells ends of blocks and of the file", function()
    local _, ending, _, lex = read("} # done")
    assert.equal("}", ending)
    assert.equal("eof", (lexer.readStatement(lex)))
  end)

  local mistakes = {
    { "a word after a closing quote", "a;\n'b'c;", '^f:2: unexpected "c" after a closing quote$' },
    { "a semicolon without a word", "a;\n;", '^f:2: unexpected ";"$' },
    { "a brace without a word", "a;\n\n{", '^f:3: unexpected "{"$' },
    { "a closing brace within a statement", "a;b\n }", '^f:2: unexpected "}"$' },
    { "a quote that is not closed", "a;\nb 'c;\nd;\n", "^f:2: the ' that opens here is not closed$" },
    { "a statement that is not ended", "a;\n\nb c\nd", "^f:3: unexpected end of file" },
    { "a backslash at the end", "a;\nb\\", "^f:2: unexpected end of file" },
  }
  for _, case in ipairs(mistakes) do
    it("names the line of " .. case[1], function()
      local lex = lexer.newLexer("f", case[2])
      local ending, err
      repeat
        ending, err = lexer.readStatement(lex)
      until ending == nil or ending == "eof"
      assert.is_nil(ending)
      assert.matches(case[3], err)
    end)
  end

  it("refuses a word longer than any nginx takes", function()
    local at_limit = ("x"):rep(lexer.MAX_WORD_BYTES)
    assert.equal(at_limit, read(at_limit .. ";")[1])
    local _, ending, err = read("\n" .. at_limit .. "x;")
    assert.is_nil(ending)
    assert.matches('^f:2: a word of more than 65536 bytes starts here: "xxxxxxxxxx"$', err)
    assert.matches("^f:1: a word of more than", (select(3, read("'" .. at_limit .. "x';"))))
  end)

  it("cuts any text as nginx's own loop does", function()
    math.randomseed(20240607)
    local alphabet = { "a", "n", "t", " ", " ", "\n", "\t", ";", "{", "}", '"', "'", "\\", "#", "$", "(", ")", "\r" }
    for _ = 1, 20000 do
      local soup = {}
      for i = 1, math.random(1, 30) do
        soup[i] = alphabet[math.random(#alphabet)]
      end
      soup = table.concat(soup)
      local lex, pos = lexer.newLexer("f", soup), 1
      local expected, ending
      repeat
        local words, found
        words, expected, pos = reference(soup, pos)
        found = lexer.readStatement(lex)
        ending = found or "error"
        assert.equal(expected, ending, soup)
        if found ~= nil then
          assert.same(words, lex.words, soup)
        end
      until expected == "eof" or expected == "error"
    end
  end)

  it("counts lines only forwards, and rightly", function()
    local lex = lexer.newLexer("f", "a\nb\n\nc")
    assert.equal(1, text.lineAt(lex, 1))
    assert.equal(1, text.lineAt(lex, 2))
    assert.equal(2, text.lineAt(lex, 3))
    assert.equal(4, text.lineAt(lex, 6))
    assert.equal(4, text.lineAt(lex, 100))
  end)
end)

-- Reads the block that opens the text, and returns what is left behind it.
local function rest(content)
  local lex = lexer.newLexer("f", content)
  assert.equal("{", (lexer.readStatement(lex)))
  local err = lexer.skipBlock(lex)
  return err == nil and content:sub(lex.pos) or nil, err
end

describe("skipping a block", function()
  it("skips nested blocks, with quotes and comments in them", function()
    assert.equal("z;", rest("a { b { c '}' \"{\"; } # }\n d e\\}f; }z;"))
  end)

  it("skips blocks of Lua within", function()
    assert.equal("z;", rest("server { location / { content_by_lua_block { x = '}' -- }\n} } }z;"))
  end)

  it("names the line where a block that is not closed opens", function()
    local _, err = rest("\na {\n b { c;\n }\n")
    assert.equal("f:2: the block that opens here is not closed", err)
  end)
end)

describe("skipping a block of Lua", function()
  local function lua(code)
    return rest("init_by_lua_block {" .. code)
  end

  it("counts braces", function()
    assert.equal("z", lua(" t = { { } } }z"))
  end)

  it("does not count braces in strings", function()
    assert.equal("z", lua([[ a = "}" .. '}' .. "\"}" .. '\'}' .. "\\" }z]]))
  end)

  it("does not count braces in comments", function()
    assert.equal("z", lua(" -- } it's {\n --}\n}z"))
  end)

  it("does not count braces in long brackets of any level", function()
    assert.equal("z", lua(" a = [[ } ]] .. [==[ } ]] ]=] ]==] }z"))
    assert.equal("z", lua(" --[[ } \n } ]] --[=[ } ]] \n ]=] }z"))
  end)

  it("takes --[ and --[= without a second bracket for a comment to the end of the line", function()
    assert.equal("z", lua(" --[ }\n --[== }\n }z"))
  end)

  it("takes a quote without a partner on its line for no string, as the Lua module does", function()
    assert.equal("z", lua(" it's }z"))
    -- A string continued with a backslash, even.
    assert.equal(' }"\n}z', lua(' "a \\\n }' .. ' }"\n}z'))
  end)

  it("does not take a single minus, or brackets of an index, for anything", function()
    assert.equal("z", lua(" a = b - c[d[1]] ]==] -{ } }z"))
  end)

  it("names the line where the block opens if it is not closed", function()
    assert.same({ nil, "f:1: the block of Lua that opens here is not closed" }, { lua(" {\n }\n '}'\n -- }") })
  end)

  it("names the line of a long bracket that is not closed", function()
    assert.same({ nil, "f:2: the long bracket that opens here is not closed" }, { lua("\n [=[ ]] }") })
    assert.same({ nil, "f:2: the long bracket that opens here is not closed" }, { lua("\n --[[ ]=] }") })
  end)

  it("reads megabytes of quotes that are never closed in one pass", function()
    -- Two million searches to the end of the line would take hours.
    assert.equal("z", lua((([[\"]] .. [[\']]):rep(500000)) .. "\n}z"))
  end)
end)
