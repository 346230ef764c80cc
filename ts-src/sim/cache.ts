/** What a node remembers: the keys it served last, as many as fit (LRU). */

interface Entry {
  key: number;
  newer: Entry | undefined;
  older: Entry | undefined;
}

export interface NodeCache {
  size: number;
  entries: number;
  by_key: LuaTable<number, Entry>;
  newest: Entry | undefined;
  oldest: Entry | undefined;
}

/** @param size keys that fit */
export function newCache(size: number): NodeCache {
  return { size, entries: 0, by_key: new LuaTable(), newest: undefined, oldest: undefined };
}

function unlink(cache: NodeCache, entry: Entry): void {
  if (entry.newer === undefined) cache.newest = entry.older;
  else entry.newer.older = entry.older;
  if (entry.older === undefined) cache.oldest = entry.newer;
  else entry.older.newer = entry.newer;
}

function putFirst(cache: NodeCache, entry: Entry): void {
  entry.newer = undefined;
  entry.older = cache.newest;
  if (cache.newest !== undefined) cache.newest.newer = entry;
  cache.newest = entry;
  cache.oldest ??= entry;
}

/** Whether the node has what a key needs. */
export function holds(cache: NodeCache, key: number): boolean {
  return cache.by_key.has(key);
}

/** A request with the key is served. @returns whether it was a hit; it would be one the next time */
export function useCache(cache: NodeCache, key: number): boolean {
  if (cache.by_key.has(key)) {
    const entry = cache.by_key.get(key);
    unlink(cache, entry);
    putFirst(cache, entry);
    return true;
  }
  const oldest = cache.oldest;
  if (cache.entries >= cache.size && oldest !== undefined) {
    unlink(cache, oldest);
    cache.by_key.delete(oldest.key);
    cache.entries--;
  }
  const entry: Entry = { key, newer: undefined, older: undefined };
  cache.by_key.set(key, entry);
  putFirst(cache, entry);
  cache.entries++;
  return false;
}
