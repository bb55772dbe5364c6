import type { Database } from '@stowage/database';
import type { PluginHost, Providers } from '@stowage/plugin-api';
import type { DatabaseReserve } from '../limits/databaseReserve.js';
import type { Log } from '../log.js';
import { createRegistry } from './registry.js';

/** What plugins find at their server, beside what serves requests. */
export type HostMembers = Omit<PluginHost, 'route' | 'ext'>;

interface Dependencies
	extends Pick<HostMembers, 'dataDir' | 'files' | 'bodies' | 'notifications' | 'jobs' | 'isOffered'> {
	database: Database;
	databaseReserve: DatabaseReserve;
	log: Log;
}

/** Implements the server's side of plugin-api. Returns all logs, too. */
export function createHostMembers({ database, databaseReserve, log, ...services }: Dependencies): {
	members: HostMembers;
	logs: Log[];
} {
	const providers: Providers = {
		storage: createRegistry('storage'),
		auth: createRegistry('auth provider'),
		archive: createRegistry('archive format'),
		capability: createRegistry('capability'),
		renderer: createRegistry('renderer'),
	};
	const logs = [log];
	const members: HostMembers = {
		...services,
		providers,
		keyValues: (scope) => databaseReserve.optional(database.keyValues(scope)),
		logOf(plugin) {
			const own = log.child({ plugin });
			logs.push(own);
			return own;
		},
	};
	return { members, logs };
}

/** The server of an app, or what stands in its place in a command. */
export interface AppHost {
	/** The parts of the app and its plugins are registered with it. */
	host: PluginHost;
	/** Runs `start`, by which a plugin registers what it offers. */
	register(plugin: { name: string; version: string }, start: (host: PluginHost) => void | Promise<void>): Promise<void>;
	stop(): Promise<void>;
}

/** The host of plugins in a command: there are no routes, nothing starts to serve, and `stop` runs what is due when a server stops. */
export function createCommandHost(members: HostMembers): AppHost {
	const atStop = { onPreStop: [] as (() => unknown)[], onPostStop: [] as (() => unknown)[] };
	const host: PluginHost = {
		...members,
		route() {},
		ext(event, handle) {
			if (event !== 'onPostStart') atStop[event].push(handle);
		},
	};
	return {
		host,
		register: async (_plugin, start) => start(host),
		async stop() {
			for (const handle of [...atStop.onPreStop, ...atStop.onPostStop]) await handle();
		},
	};
}
