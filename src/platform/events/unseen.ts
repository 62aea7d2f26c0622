// A page of the events that a snapshot does not show: those of transactions that ran then, and of later ones. A scan from the oldest that
// ran would read again what was committed since it began.
type Page = { readonly columns: string; readonly where: string };

/** Takes the parameters `:seen` and `:limit`. The last transaction is whole. */
export function unseenEvents({ columns, where }: Page): string {
  const page = 'order by written_in fetch first (:limit) rows with ties';
  const ofTransactions = (those: string) =>
    `(select ${columns}, written_in from event where ${those} and ${where} ${page})`;
  return `
      select * from (
        ${ofTransactions('written_in = any (array(select pg_snapshot_xip((:seen)::pg_snapshot)))')}
        union all
        ${ofTransactions('written_in >= pg_snapshot_xmax((:seen)::pg_snapshot)')}
      ) as unseen ${page}`;
}
