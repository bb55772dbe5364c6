import type { Server } from '@hapi/hapi';
import inert from '@hapi/inert';
import type { Config } from '../config/schema.js';
import type { Log } from '../log.js';
import type { AppHost, HostMembers } from '../plugins/pluginHost.js';
import { type Accepting, type ConnectionSource, createAccepting } from './connections/accepting.js';
import type { Drain } from './connections/Drain.js';
import { createServer } from './createServer.js';
import { takenRoute } from './takenRoute.js';

interface Dependencies {
	config: Config;
	log: Log;
	drain: Drain;
	members: HostMembers;
	/** Makes the session of each request known to it. */
	serveSessions(server: Server): void;
	/** Milliseconds that the event loop may be late before requests are refused with 503; 0 never refuses. */
	maxEventLoopDelayMs: number;
	/** The process that listens in place of this one. */
	connections: ConnectionSource | undefined;
}

export interface Http extends AppHost {
	server: Server;
	accepting: Accepting;
}

const drainMs = 10_000;

/** The HTTP server, for the app and its plugins to add their routes to. */
export async function openHttp({
	config,
	log,
	drain,
	members,
	serveSessions,
	maxEventLoopDelayMs,
	connections,
}: Dependencies): Promise<Http> {
	const server = createServer(config, log, maxEventLoopDelayMs, drain, connections === undefined);
	const accepting = createAccepting(server, config, drain, connections);
	for (const [name, member] of Object.entries(members) as [keyof HostMembers, never][])
		server.decorate('server', name, member);
	await server.register(inert);
	serveSessions(server);
	return {
		server,
		accepting,
		host: server,
		async register({ name, version }, start) {
			try {
				await server.register(
					{ name, version, register: (own: Server) => start(own) },
					config.basePath === '' ? {} : { routes: { prefix: config.basePath } },
				);
			} catch (cause) {
				const taken = takenRoute(server, cause);
				if (taken === undefined) throw cause;
				throw new Error(`the route ${taken.path} is one of the plugin ${taken.plugin} already`, { cause });
			}
		},
		async stop() {
			await drain.begin(config.drainDelay, () => accepting.end());
			await server.stop({ timeout: drainMs });
		},
	};
}
