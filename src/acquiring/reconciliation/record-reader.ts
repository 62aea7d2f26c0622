// What cuts the text of a bank's book into records, whatever its format.

export type RecordReader = {
  /** The records that are complete with this piece of the text. The first problem is the last of them, and ends the reading. */
  push(piece: string): Promise<readonly unknown[]> | readonly unknown[];
  /** Throws when the text may not have been all. */
  end(): Promise<readonly unknown[]> | readonly unknown[];
};

/** Stands where a record cannot be understood. Its message holds nothing of the text, which may be a card number. */
export class UnreadableRecord extends Error {}

/** No entry of a book comes near it. It bounds what is kept in memory when the text is something else. */
export const maxRecordCharacters = 64 * 1024;

/** Refuses text that goes on without a record. */
export function openProgressGuard(problem: string): (piece: string, hasRecord: boolean) => void {
  let charactersSinceRecord = 0;
  return (piece, hasRecord) => {
    charactersSinceRecord = hasRecord ? 0 : charactersSinceRecord + piece.length;
    if (charactersSinceRecord > maxRecordCharacters) throw new Error(problem);
  };
}
