/** @returns the file's text, or undefined and the reason. init phase: it blocks. */
export function readFile(path: string): LuaMultiReturn<[string | undefined, string | undefined]> {
  const [file, err] = io.open(path, "rb");
  if (file === undefined) return $multi(undefined, err ?? `${path}: cannot be opened`);
  const text = file.read("*a");
  file.close();
  if (text === undefined) return $multi(undefined, `${path}: cannot be read`);
  return $multi(text, undefined);
}
