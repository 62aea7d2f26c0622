// Makes a database unreachable for a while: its server refuses and ends every connection to it.
import pg from 'pg';
import { expect, inject } from 'vitest';
import type { TestService } from '../service/test-service.ts';

export async function withoutDatabase(service: TestService, work: () => Promise<void>): Promise<void> {
  const { rows } = await service.database.withClient((own) => own.query('select current_database() as name'));
  const { name } = rows[0];
  // As the operator of the cluster, on a separate connection.
  const client = new pg.Client({ ...inject('cluster'), user: 'postgres' });
  await client.connect();
  try {
    await client.query(`alter database ${name} allow_connections false`);
    await client.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name]);
    await expect.poll(() => service.database.connections().total, { timeout: 30_000, interval: 10 }).toBe(0);
    await work();
  } finally {
    await client.query(`alter database ${name} allow_connections true`);
    await client.end();
  }
}
