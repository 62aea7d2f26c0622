// What leaves for a bank may be done there: it leaves for no other, a payout never again, and nothing long after its payer acted.
// Under its ID nothing else leaves, and no refund leaves before its charge is proved.
import type { Problem } from '../check.ts';
import type { CheckWorld, Left } from '../world.ts';

export type Leaving = { hear(query: CheckWorld['query'], left: readonly Left[]): Promise<Problems> };
type Problems = {
  readonly moved: Problem[];
  readonly mixed: Problem[];
  readonly late: Problem[];
  readonly unasked: Problem[];
};

const patienceMs = 3 * 60_000;

export function openLeaving(): Leaving {
  const before = new Map<string, Left[]>();

  /** Those that left before under the same ID. */
  function othersOf(left: Left): readonly Left[] {
    const others = before.get(left.operationId) ?? [];
    before.set(left.operationId, [...others, left]);
    return others;
  }

  return {
    async hear(query, left) {
      const all = left.map((one) => [one, othersOf(one)] as const);
      const moved = all.flatMap(([one, others]) => moveOf(one, others));
      const mixed = all.flatMap(([one, others]) => mixOf(one, others));
      const payers = left.filter(({ kind, isByPayer }) => kind === 'authorise' && isByPayer);
      const acted = payers.length === 0 ? new Map<string, string>() : await timesOf(query, payers);
      const late = payers.flatMap(({ operationId, notAfter }): Problem[] => {
        const actedAt = acted.get(partOf(operationId));
        if (actedAt === undefined) return [];
        if (notAfter === undefined) return [[operationId, 'the bank may do it at any time']];
        return Date.parse(notAfter) - Date.parse(actedAt) > patienceMs
          ? [[operationId, `the bank may do it until ${notAfter}, and the payer acted at ${actedAt}`]]
          : [];
      });
      const unasked = left
        .filter(({ kind, isProved, operationId }) => kind === 'refund' && !isProved && !isLate(operationId))
        .map(({ operationId }): Problem => [operationId, 'no answer has said that the payer was charged']);
      return { moved, mixed, late, unasked };
    },
  };
}

/**
 * A payout may move or leave again only if its sender knew from an answer that nothing was done. Nothing else may move, because a proxy could
 * have sent the answer.
 */
function moveOf({ kind, operationId, bankId, mayBeAt }: Left, others: readonly Left[]): Problem[] {
  const stays = kind === 'payout' ? mayBeAt[0] : others.find((other) => other.bankId !== bankId)?.bankId;
  const why = `it left for bank ${bankId}, and may have reached bank ${stays} before`;
  return stays === undefined ? [] : [[operationId, why]];
}

function mixOf({ operationId, kind }: Left, others: readonly Left[]): Problem[] {
  const other = others.find((one) => one.kind !== kind);
  return other ? [[operationId, `it left as ${kind}, and as ${other.kind} before`]] : [];
}

/** The bank reports a late approval in its updates, and in no answer. */
function isLate(operationId: string): boolean {
  return operationId.endsWith('.l') || operationId.endsWith('.f');
}

/** The payment or binding of an operation. */
function partOf(operationId: string): string {
  return operationId.split('.').slice(0, 2).join('.');
}

async function timesOf(query: CheckWorld['query'], left: readonly Left[]): Promise<Map<string, string>> {
  const ids = [...new Set(left.map(({ operationId }) => operationId.split('.')[0]))];
  const rows = await query(
    `select aggregate_id || '.' || coalesce(fact ->> 'paymentId', fact ->> 'bindingId') as part, fact -> 'terms' ->> 'createdAt' as at
     from event, json_array_elements(facts) as fact
     where aggregate_id = any($1) and fact ->> 'type' in ('payment_started', 'binding_started')`,
    [ids],
  );
  return new Map(rows.map(({ part, at }) => [String(part), String(at)]));
}
