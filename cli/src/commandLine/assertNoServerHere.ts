import { type Config, servingHere } from '@stowage/core';
import { Failure } from '@stowage/rules';

/**
 * Throws `locked` where a process of this machine serves over the database file that is to be replaced: it would go on with the former
 * one. Those over a database server are not looked for.
 */
export async function assertNoServerHere(config: Pick<Config, 'dataDir' | 'databaseUrl'>): Promise<void> {
	const serving = await servingHere(config);
	if (serving.length === 0) return;
	throw new Failure('locked', `Stop the server first, which uses this database: process ${serving.join(', ')}.`);
}
