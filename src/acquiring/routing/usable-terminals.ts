// Which terminals an operation can go to: their bank is not away, and declares what is wanted.
import type { BankHealth } from '../health/bank-health.ts';
import type { BankRegistry } from '../bank-registry.ts';
import type { Abilities } from '../domain/abilities.ts';
import type { TerminalRow } from './terminal-rows.ts';

export type UsableTerminals = ReturnType<typeof openUsableTerminals>;

export function openUsableTerminals(
  registry: Pick<BankRegistry, 'bankNamed' | 'isStopped'>,
  health: Pick<BankHealth, 'mayTry'>,
) {
  const knownOf = async (bankId: string): Promise<Abilities | undefined> =>
    (await registry.bankNamed(bankId))?.knownAbilities();
  const notAway = <Row extends TerminalRow>(rows: readonly Row[]) =>
    rows.find(({ bank_id }) => !registry.isStopped(bank_id) && health.mayTry(bank_id));

  return {
    /** Call it only to use the bank it returns: after a pause, that request is the probe. */
    notAway,
    /** The first terminal when all banks are unreachable. */
    firstOf: <Row extends TerminalRow>(rows: readonly Row[]): Row | undefined => notAway(rows) ?? rows[0],
    /** How long the bank declares that it keeps a hold. */
    holdDaysAt: async (bankId: string) => (await knownOf(bankId))?.holdDays,
    /** Those at other banks that take the network IDs of a series that began at this one. */
    async takingIdsOf<Row extends TerminalRow>(
      bankId: string,
      rows: readonly Row[],
    ): Promise<readonly Row[]> {
      const others = rows.filter(({ bank_id }) => bank_id !== bankId);
      const take = await Promise.all(
        others.map(async ({ bank_id }) => (await knownOf(bank_id))?.foreignNetworkIds),
      );
      return others.filter((_, at) => take[at]);
    },
    /** Those at banks that declare all that is wanted or were never heard, and what the first of the others lacks. */
    async ableOf<Row extends TerminalRow>(
      missingIn: (abilities: Abilities) => string | undefined,
      rows: readonly Row[],
    ) {
      const lacking = await Promise.all(
        rows.map(async ({ bank_id }) => {
          const abilities = await knownOf(bank_id);
          return abilities && missingIn(abilities);
        }),
      );
      return {
        able: rows.filter((_, at) => lacking[at] === undefined),
        missing: lacking.find((one) => one !== undefined),
      };
    },
  };
}
