// Reads bytes as they are asked for, from any source, with one piece of it in memory.

/** The bytes end, or say something else, where their format needs more. */
export class Unreadable extends Error {}

/** What a file holds, as it is opened. A part is a place within the file. */
export type Contents = {
  readonly text: (part: string, pieces: AsyncIterable<Buffer>) => Promise<void>;
  readonly notSearched: (part: string, why: string) => void;
};

const maxTakenBytes = 16 * 1_024 * 1_024;

export class ByteReader {
  private readonly source: AsyncIterator<Buffer>;
  private held = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.source = source[Symbol.asyncIterator]();
  }

  /** As many of the next bytes as there are. They stay. */
  async peek(bytes: number): Promise<Buffer> {
    while (this.held.length < bytes) {
      const next = await this.source.next();
      if (next.done) break;
      this.held = Buffer.concat([this.held, next.value]);
    }
    return this.held.subarray(0, bytes);
  }

  async take(bytes: number): Promise<Buffer> {
    if (!(bytes >= 0 && bytes <= maxTakenBytes)) throw new Unreadable('damaged');
    const taken = await this.peek(bytes);
    if (taken.length < bytes) throw new Unreadable('cut off');
    this.held = this.held.subarray(bytes);
    return taken;
  }

  /** The next bytes piece by piece, however many. */
  async *pieces(bytes: number): AsyncGenerator<Buffer> {
    for (let left = bytes; left > 0;) {
      if (this.held.length === 0 && (await this.peek(1)).length === 0) throw new Unreadable('cut off');
      const piece = this.held.subarray(0, left);
      this.held = this.held.subarray(piece.length);
      left -= piece.length;
      yield piece;
    }
  }

  async *rest(): AsyncGenerator<Buffer> {
    while ((await this.peek(1)).length > 0) {
      const piece = this.held;
      this.held = Buffer.alloc(0);
      yield piece;
    }
  }
}
