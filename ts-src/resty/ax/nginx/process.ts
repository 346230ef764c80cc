import * as ffi from "ffi";

const EPERM = 1;

interface KillLibrary {
  /** kill(2), under a name of our own so that another library's declaration cannot clash. */
  ax_kill(this: void, pid: number, signal: number): number;
}

ffi.cdef('int ax_kill(int pid, int sig) __asm__("kill");');

/** Whether a process exists, whoever owns it. Any phase. */
export function processAlive(pid: number): boolean {
  return (ffi.C as KillLibrary).ax_kill(pid, 0) === 0 || ffi.errno() === EPERM;
}

export function workerPid(): number {
  return ngx.worker.pid();
}
