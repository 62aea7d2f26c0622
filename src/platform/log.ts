// Structured logs: one JSON line an event, only the fields that were meant for it. Bodies are never logged; as a last
// wall whatever looks like a card number is masked on its way out, whoever put it there.
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

/** Written together, a tenth of a second late at most: a write for each request would cost as much as the request's own. */
function linesInBatches(): DestinationStream {
  return pino.destination({ sync: false, minLength: batchBytes, periodicFlush: batchMs });
}
const batchBytes = 8_192;
const batchMs = 100;

/** Of an error only what helps: the driver's own carry parameter values in `detail`, and others whole requests. */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return { message: String(error) };
  const code = 'code' in error ? { code: String(error.code) } : {};
  const cause = error.cause instanceof Error ? { cause: error.cause.message } : {};
  return { type: error.name, message: error.message, ...code, ...cause, stack: error.stack };
}

const longDigits = /\d(?:[ .-]?\d){11,}/g;
const cardLengths = { least: 12, most: 19 };

/**
 * A run of digits, also with separators, is shown as first 6 and last 4 if it looks like a card number. Where only a part
 * of it does, as with an expiry date behind it, everything from the seventh digit of that part on is hidden.
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

/** A number of 15 or 16 digits with its security code behind it may, by chance, pass for one of 18 or 19. */
function hasCodeBehind(digits: string): boolean {
  return digits.length > 16 && [15, 16].some((length) => looksLikeCard(digits.slice(0, length)));
}

function cardWithin(digits: string): number | undefined {
  for (let start = 0; start + cardLengths.least <= digits.length; start++) {
    for (let length = cardLengths.least; length <= cardLengths.most; length++) {
      const end = start + length;
      if (end <= digits.length && looksLikeCard(digits.slice(start, end))) return start;
    }
  }
  return undefined;
}

function looksLikeCard(digits: string): boolean {
  // Twelve digits are Maestro's alone.
  const prefix = digits.length === cardLengths.least ? /^(50|5[6-8]|6)/ : /^[2-6]/;
  return (
    digits.length >= cardLengths.least &&
    digits.length <= cardLengths.most &&
    prefix.test(digits) &&
    passesLuhn(digits)
  );
}

function passesLuhn(digits: string): boolean {
  let sum = 0;
  for (let place = 0; place < digits.length; place++) {
    const digit = Number(digits[digits.length - 1 - place]);
    const doubled = place % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

/** For a terminal: `10:00:00 info  request createInvoice 201 3.1 ms`. */
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
