/**
 * Loads a Lua module of the user's from lua_package_path. init phase.
 * @returns the module's value, or undefined and why it could not be loaded
 */
export function loadModule(name: string): LuaMultiReturn<[unknown, string | undefined]> {
  const [ok, loaded] = pcall(require, name);
  if (!ok) return $multi(undefined, tostring(loaded));
  return $multi(loaded, undefined);
}
