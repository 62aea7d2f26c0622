// The composition root: a foundation in, a service out, in three parts: its modules, its background work, and what answers requests.
import { guardShops, purgeAttempts } from '../cards/payer-attempts.ts';
import { openBackgroundWork } from './composition/background-work.ts';
import type { Foundation } from './composition/foundation.ts';
import { buildHttpService } from './composition/http-service.ts';
import { openModules } from './composition/modules.ts';
import { addGauges } from './gauges.ts';

export type RunningService = ReturnType<typeof buildService>;

/** How long requests in progress may take when the service stops. */
const drainMs = 10_000;

export function buildService(
  foundation: Foundation,
  /** With a free port it is known only once the service listens. */
  publicUrl: () => string = () => foundation.config.publicUrl,
) {
  const modules = openModules(foundation, publicUrl);
  const work = openBackgroundWork(foundation, modules, publicUrl);
  const app = buildHttpService({ foundation, modules, work, publicUrl });
  const { database, vault, log, ports } = foundation;
  const { clock } = ports;
  const { banks, waits, payerAttempts } = modules;
  const { jobs, webhooks, search, ledger } = work;
  addGauges(modules.metrics, { database, jobs, clock, ledger, banks });
  return {
    ...modules,
    ...work,
    app,
    purgeAttempts: () => purgeAttempts(database, clock.now()),
    guardShops: () => guardShops(database, clock.now(), log),
    forgetGuards: () => payerAttempts.forgetGuards(),
    followResets: modules.followReset,
    purgeVault: () => vault.purge(),
    /** Stops accepting requests, lets running work finish, and leaves the foundation to its owner. */
    async stop() {
      waits.stop();
      // Before what would wait for them: requests and jobs.
      banks.stopWaiting();
      // A client that sends its request byte by byte is waited for no longer than this.
      const drainTimer = setTimeout(() => app.server.closeAllConnections(), drainMs);
      await app.close();
      clearTimeout(drainTimer);
      await jobs.stop();
      await webhooks.stop();
      await search.stop();
      await banks.stop();
    },
  };
}
