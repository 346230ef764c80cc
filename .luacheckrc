-- Compiled Lua (lua-out/) and hand-written Lua (nginx/, spec/, scripts/).
std = "luajit"
max_line_length = 120
exclude_files = { "node_modules", ".build" }

-- Written by the compiler: what makes a program wrong is checked (undefined globals, writes to globals, unknown fields),
-- what only makes it ugly is not.
files["lua-out"] = {
  max_line_length = false,
  ignore = {
    "211", -- unused variables: ____exports, helpers, imports of types
    "212", -- unused arguments: ____, where TypeScript passes `this`
    "213", -- unused loop variables
    "221", "231", "311", "331", -- values never read: `local x` before a branch assigns it
    "4..", -- shadowing: blocks and loops are compiled to nested scopes
    "5..", -- unreachable code, empty branches, `not (a > b)`
    "6..", -- white space
  },
}
-- Only here may nginx be touched; a use of ngx anywhere else is an undefined global.
files["lua-out/resty/ax/nginx"] = { std = "luajit+ngx_lua" }

files["nginx"] = { std = "luajit+ngx_lua" }
files["spec"] = { std = "luajit+busted" }
-- wrk calls the global `done`.
files["docker"] = { std = "luajit", globals = { "done" } }
