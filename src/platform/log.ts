// Structured logs: one JSON line per event, with only the fields given to it and never a request body. As a last resort, whatever looks
// like a card number is masked before the line is written.
import { pino, type DestinationStream, type Logger } from 'pino';

export type { Logger };

export function openLog(options: { level: string; human: boolean; destination?: DestinationStream }): Logger {
  const destination = options.destination ?? (options.human ? humanLines() : linesInBatches());
  return pino(
    {
      level: options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: describeError },
      redact: [
        'sender',
        '*.sender',
        'cvv',
        '*.cvv',
        'cardNumber',
        '*.cardNumber',
        'authorization',
        'apiKey',
        'payload',
        'password',
        '*.authorization',
        '*.apiKey',
        '*.payload',
        '*.password',
      ],
      hooks: { streamWrite: maskCardNumbers },
    },
    destination,
  );
}

/** Lines are written in batches, at most 100 ms late: one write per request would cost as much as the request itself. */
function linesInBatches(): DestinationStream {
  return pino.destination({ sync: false, minLength: batchBytes, periodicFlush: batchMs });
}
const batchBytes = 8_192;
const batchMs = 100;

/** Keeps only what helps: the driver's errors hold parameter values in `detail`, and other errors hold whole requests. */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return { message: String(error) };
  const code = 'code' in error ? { code: String(error.code) } : {};
  const cause = error.cause instanceof Error ? { cause: error.cause.message } : {};
  return { type: error.name, message: error.message, ...code, ...cause, stack: error.stack };
}

const longDigits = /\d(?:[ .-]?\d){11,}/g;
const cardLengths = { min: 12, max: 19 };

/**
 * Shows a run of digits that looks like a card number as its first 6 and last 4, also with separators. If only a part looks like one,
 * as with an expiry date after it, its digits from the seventh on are hidden.
 */
export function maskCardNumbers(text: string): string {
  return text.replace(longDigits, (run) => {
    const digits = run.replace(/\D/g, '');
    if (looksLikeCard(digits) && !hasCodeBehind(digits)) {
      return `${digits.slice(0, 6)}${'*'.repeat(digits.length - 10)}${digits.slice(-4)}`;
    }
    const start = cardWithin(digits);
    if (start === undefined) return run;
    return digits.slice(0, start + 6) + '*'.repeat(digits.length - start - 6);
  });
}

/** A card number of 15 or 16 digits followed by its security code can pass for one of 18 or 19 digits. */
function hasCodeBehind(digits: string): boolean {
  return digits.length > 16 && [15, 16].some((length) => looksLikeCard(digits.slice(0, length)));
}

function cardWithin(digits: string): number | undefined {
  for (let start = 0; start + cardLengths.min <= digits.length; start++) {
    for (let length = cardLengths.min; length <= cardLengths.max; length++) {
      const end = start + length;
      if (end <= digits.length && looksLikeCard(digits.slice(start, end))) return start;
    }
  }
  return undefined;
}

function looksLikeCard(digits: string): boolean {
  // Only Maestro has card numbers of twelve digits.
  const prefix = digits.length === cardLengths.min ? /^(50|5[6-8]|6)/ : /^[2-6]/;
  return (
    digits.length >= cardLengths.min &&
    digits.length <= cardLengths.max &&
    prefix.test(digits) &&
    passesLuhn(digits)
  );
}

function passesLuhn(digits: string): boolean {
  let sum = 0;
  for (let index = 0; index < digits.length; index++) {
    const digit = Number(digits[digits.length - 1 - index]);
    const doubled = index % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

/** Lines for people at a terminal: `10:00:00 info  request  operation=createInvoice status=201`. */
function humanLines(): DestinationStream {
  return {
    write(line) {
      const { time, level, msg, err, ...fields } = JSON.parse(line) as Record<string, unknown>;
      const rest = Object.entries(fields)
        .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
        .join(' ');
      const stack = err
        ? `\n${(err as { stack?: string; message?: string }).stack ?? JSON.stringify(err)}`
        : '';
      const clockTime = String(time).slice(11, 19);
      process.stdout.write(`${clockTime} ${String(level).padEnd(5)} ${String(msg)}  ${rest}${stack}\n`);
    },
  };
}
