import type { Database } from '@stowage/database';
import type { Providers, Server } from '@stowage/plugin-api';
import type { DatabaseReserve } from '../limits/databaseReserve.js';
import type { Log } from '../log.js';
import { createRegistry } from './registry.js';

interface Dependencies extends Pick<Server, 'dataDir' | 'files' | 'bodies' | 'notifications' | 'jobs' | 'isOffered'> {
	database: Database;
	databaseReserve: DatabaseReserve;
	log: Log;
}

/** Implements the server's side of plugin-api. Resolves to the providers that plugins registered, and to all logs. */
export function decorateServer(server: Server, { database, databaseReserve, log, ...services }: Dependencies) {
	const providers: Providers = {
		storage: createRegistry('storage'),
		auth: createRegistry('auth provider'),
		archive: createRegistry('archive format'),
		capability: createRegistry('capability'),
		renderer: createRegistry('renderer'),
	};
	const logs = [log];
	server.decorate('server', 'providers', providers);
	server.decorate('server', 'dataDir', services.dataDir);
	server.decorate('server', 'files', services.files);
	server.decorate('server', 'bodies', services.bodies);
	server.decorate('server', 'notifications', services.notifications);
	server.decorate('server', 'jobs', services.jobs);
	server.decorate('server', 'isOffered', services.isOffered);
	server.decorate('server', 'keyValues', (scope: string) => databaseReserve.optional(database.keyValues(scope)));
	server.decorate('server', 'logOf', (plugin: string) => {
		const own = log.child({ plugin });
		logs.push(own);
		return own;
	});
	return { providers, logs };
}
