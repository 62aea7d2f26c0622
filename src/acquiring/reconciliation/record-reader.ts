// Splits the text of a transaction report into records, in any format.

export type RecordReader = {
  /** Returns the records that this piece completes. An `UnreadableRecord` is always the last one. */
  push(piece: string): Promise<readonly unknown[]> | readonly unknown[];
  /** Throws when the text may be incomplete. */
  end(): Promise<readonly unknown[]> | readonly unknown[];
};

/** Replaces a record that cannot be read. Its message never quotes the text, which may be a card number. */
export class UnreadableRecord extends Error {}

/** Far above any entry. It limits memory when the file is something else. */
export const maxRecordCharacters = 64 * 1024;

/** Throws when a long text contains no record. */
export function openProgressGuard(problem: string): (piece: string, hasRecord: boolean) => void {
  let charactersSinceRecord = 0;
  return (piece, hasRecord) => {
    charactersSinceRecord = hasRecord ? 0 : charactersSinceRecord + piece.length;
    if (charactersSinceRecord > maxRecordCharacters) throw new Error(problem);
  };
}
