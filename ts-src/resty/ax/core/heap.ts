/**
 * A binary min-heap of slot numbers over flat arrays, with a position index: push, remove-any and pop
 * are O(log n), the head O(1), and nothing is allocated once the arrays have grown. (Williams 1964,
 * "Algorithm 232: Heapsort"; the index is the usual one of priority queues with decrease-key.)
 *
 * `key`, `tie` and `at` are indexed by slot and may be shared by several heaps as long as a slot is in
 * at most one of them; whoever hands out slots grows them.
 */
export interface Heap {
  /** Slots, heap-ordered: slots[0 .. size-1]; what is behind is stale. */
  slots: number[];
  size: number;
  /** What is compared first; of equals, the lower `tie` goes first. */
  key: number[];
  tie: number[];
  /** Position of a slot in `slots`; -1 = not in a heap. */
  at: number[];
}

export function newHeap(key: number[], tie: number[], at: number[]): Heap {
  return { slots: [], size: 0, key, tie, at };
}

function isBefore(heap: Heap, a: number, b: number): boolean {
  const key_a = heap.key[a];
  const key_b = heap.key[b];
  return key_a < key_b || (key_a === key_b && heap.tie[a] < heap.tie[b]);
}

function siftUp(heap: Heap, slot: number, from: number): void {
  const slots = heap.slots;
  const at = heap.at;
  let hole = from;
  while (hole > 0) {
    const parent = Math.floor((hole - 1) / 2);
    const other = slots[parent];
    if (!isBefore(heap, slot, other)) break;
    slots[hole] = other;
    at[other] = hole;
    hole = parent;
  }
  slots[hole] = slot;
  at[slot] = hole;
}

function siftDown(heap: Heap, slot: number, from: number): void {
  const slots = heap.slots;
  const at = heap.at;
  const size = heap.size;
  let hole = from;
  let child = 2 * hole + 1;
  while (child < size) {
    if (child + 1 < size && isBefore(heap, slots[child + 1], slots[child])) child++;
    const other = slots[child];
    if (!isBefore(heap, other, slot)) break;
    slots[hole] = other;
    at[other] = hole;
    hole = child;
    child = 2 * hole + 1;
  }
  slots[hole] = slot;
  at[slot] = hole;
}

/** @param slot in no heap; its key and tie are set, and stay while it is in */
export function heapPush(heap: Heap, slot: number): void {
  heap.size++;
  siftUp(heap, slot, heap.size - 1);
}

/** @param slot in this heap */
export function heapRemove(heap: Heap, slot: number): void {
  const hole = heap.at[slot];
  heap.at[slot] = -1;
  heap.size--;
  if (hole === heap.size) return;
  const last = heap.slots[heap.size];
  if (hole > 0 && isBefore(heap, last, heap.slots[Math.floor((hole - 1) / 2)])) siftUp(heap, last, hole);
  else siftDown(heap, last, hole);
}

/** @returns the slot that goes first; -1 = empty */
export function heapHead(heap: Heap): number {
  return heap.size > 0 ? heap.slots[0] : -1;
}
