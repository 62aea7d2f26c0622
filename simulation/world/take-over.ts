// Replaces this process's time, timers and chance while a world runs; `real` has the originals.
// Import it before the service, parts of which keep references to what they import.
import crypto, { type KeyObject } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import files from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import hooks from 'node:perf_hooks';
import { promisify } from 'node:util';

/** A world's time, chance and timers. */
export type Rule = {
  nowMs(): number;
  /** Evenly from 0 to 1, 1 excluded. */
  chance(): number;
  /** Starts a timer; the result ends it. */
  begin(work: () => void, delayMs: number, again: boolean): () => void;
};

let rule: Rule | undefined;

export const real = {
  setTimeout: globalThis.setTimeout,
  clearTimeout: globalThis.clearTimeout,
  setImmediate: globalThis.setImmediate,
  clearImmediate: globalThis.clearImmediate,
  nowMs: performance.now.bind(performance),
};

/** Callbacks of `setImmediate` that have not run yet. */
const putOff = new Set<NodeJS.Immediate>();

export function obey(ruler: Rule | undefined): void {
  rule = ruler;
}

/** Resolves when no callback is left that could run without the scheduler. */
export async function quiet(): Promise<void> {
  do await new Promise((resolve) => void real.setImmediate(resolve));
  while (putOff.size > 0);
}

/** A timer of the world, with the methods that the service uses. */
class WorldTimer {
  readonly end: () => void;
  constructor(end: () => void) {
    this.end = end;
  }
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }
  hasRef(): boolean {
    return true;
  }
}

type Work = (...values: unknown[]) => void;

function timerIn(usual: (work: Work, delayMs?: number, ...values: unknown[]) => unknown, again: boolean) {
  return (work: Work, delayMs = 0, ...values: unknown[]): unknown =>
    rule
      ? new WorldTimer(rule.begin(() => work(...values), Math.max(1, delayMs || 0), again))
      : usual(work, delayMs, ...values);
}

function enderOf(usual: (timer?: never) => void) {
  return (timer: unknown): void => {
    if (timer instanceof WorldTimer) timer.end();
    else usual(timer as never);
  };
}

function setImmediateCounted(work: Work, ...values: unknown[]): NodeJS.Immediate {
  if (!rule) return real.setImmediate(work, ...values);
  const turn = real.setImmediate(() => {
    putOff.delete(turn);
    work(...values);
  });
  putOff.add(turn);
  return turn;
}

function clearImmediateCounted(turn?: NodeJS.Immediate): void {
  if (turn) putOff.delete(turn);
  real.clearImmediate(turn);
}

function bytes(length: number): Buffer {
  const made = Buffer.alloc(length);
  for (let at = 0; at < length; at++) made[at] = Math.floor((rule?.chance() ?? 0) * 256);
  return made;
}

const usual = { ...crypto };
const usualNow = Date.now;
const usualChance = Math.random;

const { custom: asPromise } = promisify;

/** Generating keys takes 0.1 s and is random, so all are the same here. */
let keys: { rsa: KeyObject; ed25519: KeyObject } | undefined;

function keyPair(kind: string): { publicKey: KeyObject; privateKey: KeyObject } {
  keys ??= { rsa: rsaKey(), ed25519: ed25519Key() };
  const privateKey = kind === 'rsa' ? keys.rsa : keys.ed25519;
  return { publicKey: crypto.createPublicKey(privateKey), privateKey };
}

function generateKeyPair(kind: string, ...rest: unknown[]): void {
  const { publicKey, privateKey } = keyPair(kind);
  const done = rest.at(-1) as (error: null, publicKey: KeyObject, privateKey: KeyObject) => void;
  process.nextTick(done, null, publicKey, privateKey);
}
Object.assign(generateKeyPair, { [asPromise]: (kind: string) => Promise.resolve(keyPair(kind)) });

/** Signs synchronously, because another thread would finish at a random moment. */
function sign(algorithm: string | null, data: Buffer, key: KeyObject, done?: unknown): Buffer | undefined {
  const signature = usual.sign(algorithm, data, key);
  if (!done) return signature;
  process.nextTick(done as never, null, signature);
  return undefined;
}

Object.assign(crypto, {
  randomBytes(length: number, done?: (error: null, made: Buffer) => void) {
    if (!rule) return usual.randomBytes(length, done as never);
    const made = bytes(length);
    if (done) process.nextTick(done, null, made);
    return made;
  },
  randomUUID: () => {
    if (!rule) return usual.randomUUID();
    const hex = bytes(16).toString('hex');
    return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
  },
  generateKeyPair,
  sign,
});

/** Files are read synchronously, because another thread would finish at a random moment. */
const { readFile, readdir } = files;
Object.assign(files, {
  readFile: async (...asked: Parameters<typeof readFileSync>) =>
    rule ? readFileSync(...asked) : readFile(...(asked as Parameters<typeof readFile>)),
  readdir: async (folder: string) => (rule ? readdirSync(folder) : readdir(folder)),
});

/** Process metrics are off: each node would sample 100 times a second until the process ends. */
Object.assign(hooks, {
  monitorEventLoopDelay: undefined,
  PerformanceObserver: class {
    observe(): void {}
    disconnect(): void {}
  },
});
syncBuiltinESMExports();

Object.assign(globalThis, {
  setTimeout: timerIn(globalThis.setTimeout as never, false),
  setInterval: timerIn(globalThis.setInterval as never, true),
  clearTimeout: enderOf(globalThis.clearTimeout as never),
  clearInterval: enderOf(globalThis.clearInterval as never),
  setImmediate: setImmediateCounted,
  clearImmediate: clearImmediateCounted,
});
Object.assign(Date, { now: () => (rule ? Math.floor(rule.nowMs()) : usualNow()) });
Object.assign(Math, { random: () => (rule ? rule.chance() : usualChance()) });
Object.assign(performance, { now: () => rule?.nowMs() ?? real.nowMs() });

function ed25519Key(): KeyObject {
  const envelope = Buffer.from('302e020100300506032b657004220420', 'hex');
  return crypto.createPrivateKey({
    key: Buffer.concat([envelope, Buffer.alloc(32, 9)]),
    format: 'der',
    type: 'pkcs8',
  });
}

/** A small constant key, whose primes are the first ones after two fixed numbers. */
function rsaKey(): KeyObject {
  const exponent = 65_537n;
  const primeAfter = (start: bigint): bigint => {
    let candidate = start | 1n;
    while ((candidate - 1n) % exponent === 0n || !crypto.checkPrimeSync(candidate)) candidate += 2n;
    return candidate;
  };
  const p = primeAfter(3n ** 323n);
  const q = primeAfter(5n ** 220n);
  const d = inverseOf(exponent, (p - 1n) * (q - 1n));
  const numbers = { n: p * q, e: exponent, d, p, q, dp: d % (p - 1n), dq: d % (q - 1n), qi: inverseOf(q, p) };
  const key = Object.fromEntries(Object.entries(numbers).map(([name, value]) => [name, base64Of(value)]));
  return crypto.createPrivateKey({ key: { kty: 'RSA', ...key }, format: 'jwk' });
}

function inverseOf(value: bigint, modulus: bigint): bigint {
  let [before, rest, factorBefore, factor] = [modulus, value % modulus, 0n, 1n];
  while (rest > 0n) {
    const times = before / rest;
    [before, rest] = [rest, before - times * rest];
    [factorBefore, factor] = [factor, factorBefore - times * factor];
  }
  return ((factorBefore % modulus) + modulus) % modulus;
}

function base64Of(value: bigint): string {
  const hex = value.toString(16);
  return Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex').toString('base64url');
}
