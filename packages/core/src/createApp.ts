import { createRequire } from 'node:module';
import type { Server as HapiServer } from '@hapi/hapi';
import inert from '@hapi/inert';
import { type Database, openDatabase } from '@stowage/database';
import { auditedSessions } from './accounts/auditedAccounts.js';
import { createKnownClients } from './accounts/knownClients.js';
import { registerSessions } from './accounts/sessions.js';
import { createCoordination } from './app/createCoordination.js';
import { createFileServices } from './app/createFileServices.js';
import { createServices } from './app/createServices.js';
import { nodeInFileNames } from './audit/auditFolder.js';
import { type Administrator, createAudit } from './audit/createAudit.js';
import { createBodies } from './bodies/createBodies.js';
import { makeDataDir } from './config/dataDir.js';
import { nodeAmongOthers } from './config/nodeOf.js';
import { type Reloaded, reloadConfig } from './config/reload.js';
import type { Config } from './config/schema.js';
import { assertSameSecret, readOrMakeSecret } from './config/secret.js';
import { strangersMay } from './config/strangers.js';
import { shareOf } from './config/workers.js';
import { noSiblings, type Siblings } from './events/siblings.js';
import { type ConnectionSource, createAccepting } from './http/connections/accepting.js';
import { Drain } from './http/connections/Drain.js';
import { createServer } from './http/createServer.js';
import { OtherServers } from './leases/OtherServers.js';
import { createLog, type Log } from './log.js';
import type { Metrics } from './metrics/createMetrics.js';
import { decorateServer } from './plugins/decorateServer.js';
import { loadPlugins } from './plugins/loadPlugins.js';
import { bytesSent } from './responses/writeBody.js';
import { SearchIndex } from './search/SearchIndex.js';
import type { Services } from './services.js';
import { sweep } from './sweep.js';
import { MountedStorage } from './trees/MountedStorage.js';
import { RootClaims } from './trees/roots/RootClaims.js';
import { Roots } from './trees/roots/Roots.js';

export interface App {
	server: HapiServer;
	services: Services;
	/** Begins to listen. Resolves to the address, such as `http://127.0.0.1:7420` or `unix:/run/stowage/stowage.sock`. */
	start(): Promise<string>;
	/** What is measured, where the setting `metrics.listen` asks for it; else undefined. */
	metrics: Metrics | undefined;
	/** Applies the settings of another configuration that can change at run time, and returns the names of those that can't. */
	reload(next: Config): Reloaded;
	/** Takes no new work, lets running transfers end for a while, then closes everything. */
	stop(): Promise<void>;
}

export interface AppOptions {
	/** The folder of the built page; without it only the API answers. */
	webRoot?: string;
	/** False for a command that uses the services only: then there are no routes but those of plugins, and it can't start. @default true */
	serves?: boolean;
	log?: Log;
	/** The time of day, milliseconds since the epoch: for all that is stored. */
	now?: () => number;
	/** Milliseconds of a monotonic clock: for spans within this process. */
	monotonic?: () => number;
	/** The length of a second in the minimum speed of bodies, in milliseconds. @default 1000 */
	bodySecondMs?: number;
	/** Milliseconds that the event loop may be late before requests are refused with 503; 0 never refuses. */
	maxEventLoopDelayMs?: number;
	/** The process that listens in place of this one, which then serves no metrics either. */
	connections?: ConnectionSource;
	/** The processes beside this one behind the same primary process. */
	siblings?: Siblings;
	/** Whose command this is, whom the audit log names for actions without a request. */
	administrator?: Administrator;
}

type AllOptions = AppOptions & Required<Omit<AppOptions, 'webRoot' | 'administrator' | 'connections'>>;

/** Both src and dist lie beside package.json, to which packaging adds the version of the build. */
const { version, buildVersion = version } = createRequire(import.meta.url)('../package.json') as {
	version: string;
	buildVersion?: string;
};

const drainMs = 10_000;

/**
 * Builds the server with its database, storage and plugins. Errors of the configuration or a plugin are thrown here, before it listens.
 */
export async function createApp(config: Config, given: AppOptions = {}): Promise<App> {
	const { log = createLog(config.log.level), serves = true } = given;
	for (const warning of config.warnings) log.warn({ reason: warning }, 'an environment variable was ignored');
	const permitted = serves ? strangersMay(config) : undefined;
	if (permitted !== undefined) log.warn({ reason: permitted }, 'strangers may use this server');
	await makeDataDir(config.dataDir);
	const database = await openDatabase(config.databaseUrl, {
		now: given.now ?? Date.now,
		connections: Math.max(3, shareOf(10, config)),
	});
	const parts: Closable[] = [database];
	try {
		const { monotonic = () => performance.now(), bodySecondMs = 1000, maxEventLoopDelayMs = 5000 } = given;
		const { siblings = noSiblings } = given;
		const options = {
			...given,
			log,
			now: database.now,
			serves,
			monotonic,
			bodySecondMs,
			maxEventLoopDelayMs,
			siblings,
		};
		return await assemble(config, database, parts, options);
	} catch (error) {
		await closeAll(parts, log);
		throw error;
	}
}

/** In the order of their dependencies; `parts` are closed in reverse order. */
async function assemble(config: Config, database: Database, parts: Closable[], options: AllOptions): Promise<App> {
	const { webRoot, log, now, monotonic, bodySecondMs, maxEventLoopDelayMs, serves, connections, administrator } =
		options;
	const base = { config, database, log, now, monotonic };
	const drain = new Drain();
	const server = createServer(config, log, maxEventLoopDelayMs, drain, connections === undefined);
	const accepting = createAccepting(server, config, drain, connections);
	const audit = createAudit({ ...base, bytesSent, administrator });
	parts.push(audit);
	const bodies = createBodies({
		secondMs: bodySecondMs,
		onSessionEnd(request, onEnd) {
			const session = sessions.keyOf(request);
			return session === undefined ? () => {} : sessions.subscribe(session, onEnd);
		},
	});
	const secret = config.sessionKey ?? (await readOrMakeSecret(config.dataDir, log));
	if (serves) await assertSameSecret(database, secret);

	// Plugins may keep `server.files` for later, but the storage opens only when all of them have registered their providers.
	let opened: MountedStorage | undefined;
	const openedStorage = () => {
		if (opened === undefined) throw new Error('server.files can be used once the server has started.');
		return opened;
	};
	const coordination = await createCoordination({
		...{ ...base, audit, secret, siblings: options.siblings, version: buildVersion },
		capabilities: () => providers.capability.all(),
		feeds: () => fileServices.feeds,
	});
	const { identity, siblings, databaseReserve, relay, notifications, leases, liveProcesses, jobs } = coordination;
	parts.push(liveProcesses);
	const searchIndex = new SearchIndex({ ...base, identity });
	const otherServers = new OtherServers({ ...base, identity });
	const fileServices = createFileServices({
		...{ ...base, audit, relay, notifications, leases, identity, searchIndex },
		mayHaveOthers: () => otherServers.mayExist(),
		storage: openedStorage,
	});
	const { files, links, quotas, sharedFolders, memberChanges, diskUses, trees, trash, trashBin, versions } =
		fileServices;

	const { dataDir } = config;
	const isOffered = (capability: string) => liveProcesses.isOffered(capability);
	const decorations = { dataDir, files, bodies, notifications, jobs, isOffered, database, databaseReserve, log };
	const { providers, logs } = decorateServer(server, decorations);
	// At once, while connections still may end by themselves.
	server.ext('onPreStop', () => jobs.stop());
	await server.register(inert);
	const sessions = auditedSessions(
		registerSessions(server, database.sessions, config, secret, siblings, log, now),
		audit,
	);
	await loadPlugins(server, config);
	providers.auth.get(config.auth);

	const node = nodeAmongOthers(config);
	const claims =
		node === undefined || !serves
			? undefined
			: new RootClaims({
					...{ store: database.leases, identity, node: nodeInFileNames(node), monotonic, log },
					onLost: () => void roots.reloadInBackground(),
				});
	const roots: Roots = await Roots.open({
		...{ drivers: providers.storage, config, database, log, identity, monotonic },
		claims,
		readers: database.processes === undefined ? otherServers : liveProcesses,
		wrap: (storage) => searchIndex.noted(storage),
	});
	parts.push(roots, searchIndex);
	const storage = new MountedStorage(roots);
	opened = storage;
	if (serves) await otherServers.announce();
	parts.push(otherServers, diskUses, quotas, relay, trashBin);
	// Closed before its dependencies.
	parts.push(jobs);

	const services = createServices({
		...{ ...base, version: buildVersion, drain, audit, bodies, providers, secret, siblings, diskUses },
		...{ databaseReserve, notifications, leases, jobs, liveProcesses },
		...{
			storage,
			roots,
			searchIndex,
			trees,
			files,
			links,
			quotas,
			sharedFolders,
			trash,
			trashBin,
			versions,
			memberChanges,
		},
		...{ sessions, knownClients: createKnownClients(config, secret, now) },
	});
	parts.push(services.inFlightUploads, services.shareUses, services.memberChanges);
	// They last as long as their pages, so their end is not awaited.
	server.ext('onPreStop', () => services.streams.endAll());
	if (serves) {
		const { registerRoutes } = await import('./routes/registerRoutes.js');
		await registerRoutes(server, services, webRoot);
	}

	const metrics = config.metrics.listen === '' || !serves ? undefined : await openMetrics(server, services);
	if (metrics !== undefined) parts.push(metrics);
	const sweeping = setInterval(() => siblings.isLeader && void sweep(services), 60 * 60_000);
	sweeping.unref();
	return {
		server,
		services,
		metrics,
		async start() {
			if (!serves) throw new Error('This app has no routes: it was not created to be started.');
			if (metrics !== undefined && connections === undefined) {
				const { serveMetrics } = await import('./metrics/serveMetrics.js');
				const served = await serveMetrics(config.metrics.listen, () => metrics.read(), log);
				parts.push(served);
				log.info({ address: served.address }, 'metrics are served');
			}
			siblings.join(identity.name);
			await liveProcesses.begin();
			const address = await accepting.begin();
			jobs.begin();
			void searchIndex.begin(roots);
			return address;
		},
		reload(next) {
			const reloaded = reloadConfig(config, next);
			if (reloaded.applied.includes('log.level')) for (const each of logs) each.level = config.log.level;
			return reloaded;
		},
		async stop() {
			clearInterval(sweeping);
			try {
				await drain.begin(config.drainDelay, () => accepting.end());
				await server.stop({ timeout: drainMs });
			} finally {
				await closeAll(parts, log);
			}
		},
	};
}

/** Most servers count nothing. */
async function openMetrics(server: HapiServer, services: Services) {
	const { createMetrics } = await import('./metrics/createMetrics.js');
	return createMetrics(server, services);
}

interface Closable {
	close(): Promise<void>;
}

/** Closes the parts, the last first and each once, also when one of them fails. */
async function closeAll(parts: Closable[], log: Log): Promise<void> {
	for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
		try {
			await part.close();
		} catch (error) {
			log.error({ err: error }, 'a part of the server could not be closed');
		}
	}
}
