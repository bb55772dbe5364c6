import { createRequire } from 'node:module';
import type { Server } from '@hapi/hapi';
import { type Database, openDatabase } from '@stowage/database';
import type { Providers } from '@stowage/plugin-api';
import { isFailure } from '@stowage/rules';
import { auditedSessions } from './accounts/auditedAccounts.js';
import { createKnownClients } from './accounts/knownClients.js';
import { createSessions } from './accounts/sessions.js';
import { createCoordination } from './app/createCoordination.js';
import { createFileServices } from './app/createFileServices.js';
import { createServices } from './app/createServices.js';
import { nodeInFileNames } from './audit/auditFolder.js';
import { type Administrator, createAudit } from './audit/createAudit.js';
import { createBodies } from './bodies/createBodies.js';
import { makeDataDir } from './config/dataDir.js';
import { nodeAmongOthers } from './config/nodeOf.js';
import type { Config } from './config/schema.js';
import { assertSameSecret, readOrMakeSecret } from './config/secret.js';
import { shareOf } from './config/workers.js';
import { currentContext } from './context.js';
import { noSiblings, type Siblings } from './events/siblings.js';
import { Drain } from './http/connections/Drain.js';
import { clientKey, queueClient } from './http/requests/proxy.js';
import { assertUnserved } from './leases/assertUnserved.js';
import { OtherServers } from './leases/OtherServers.js';
import type { Log } from './log.js';
import { type FoundPlugins, findPlugins, startPlugins } from './plugins/loadPlugins.js';
import { type AppHost, createCommandHost, createHostMembers, type HostMembers } from './plugins/pluginHost.js';
import { bytesSent } from './responses/writeBody.js';
import { SearchIndex } from './search/SearchIndex.js';
import type { Services } from './services.js';
import { RootClaims } from './trees/roots/RootClaims.js';
import { Roots } from './trees/roots/Roots.js';
import { Removals } from './trees/space/Removals.js';
import { MountedStorage } from './trees/storage/MountedStorage.js';

export interface ServicesOptions {
	log: Log;
	/** Whether requests will be served. */
	serves: boolean;
	/** The time of day, milliseconds since the epoch: for all that is stored. */
	now?: (() => number) | undefined;
	/** Milliseconds of a monotonic clock: for spans within this process. */
	monotonic?: (() => number) | undefined;
	/** The length of a second in the minimum speed of bodies, in milliseconds. @default 1000 */
	bodySecondMs?: number | undefined;
	/** The processes beside this one behind the same primary process. */
	siblings?: Siblings | undefined;
	/** Called where a start lacks something for now, and tries again once it resolves. @default that is thrown */
	onUnavailable?: OnUnavailable | undefined;
	/** Whose command this is, whom the audit log names for actions without a request. */
	administrator?: Administrator | undefined;
}

/** What a start lacks, and why. */
export type OnUnavailable = (what: 'data folder' | 'database', error: Error) => Promise<void>;

export interface Closable {
	close(): Promise<void>;
}

/** What plugins are registered with, once it is known which there are. */
export type OpenHost<Host extends AppHost> = (given: {
	plugins: FoundPlugins;
	members: HostMembers;
	drain: Drain;
	/** Makes the session of each request of a server known to it. */
	serveSessions(server: Server): void;
}) => Promise<Host>;

/** The services on their database, storage and plugins. */
export type OpenServices<Host extends AppHost> = Awaited<ReturnType<typeof assemble<Host>>>;

/** Both src and dist lie beside package.json, to which packaging adds the version of the build. */
const { version, buildVersion = version } = createRequire(import.meta.url)('../package.json') as {
	version: string;
	buildVersion?: string;
};

/**
 * Opens the database, the storage and the plugins, with the services over them. `use` gets them, and what is left open if
 * it fails is closed. Errors of the configuration or a plugin are thrown here.
 */
export async function openServices<Host extends AppHost, App>(
	config: Config,
	options: ServicesOptions,
	openHost: OpenHost<Host>,
	use: (opened: OpenServices<Host>) => Promise<App>,
): Promise<App> {
	const { log } = options;
	const database = await openPatiently(config, options);
	const parts: Closable[] = [database];
	try {
		return await use(await assemble(config, database, parts, options, openHost));
	} catch (error) {
		await closeAll(parts, log);
		throw error;
	}
}

/** The database, in the data folder or elsewhere. */
async function openPatiently(config: Config, { now = Date.now, onUnavailable }: ServicesOptions): Promise<Database> {
	for (;;) {
		let what: Parameters<OnUnavailable>[0] = 'data folder';
		try {
			await makeDataDir(config.dataDir);
			what = 'database';
			return await openDatabase(config.databaseUrl, {
				now,
				connections: Math.max(3, shareOf(10, config)),
				client: currentClient,
				assertUnserved: (listed) => assertUnserved(config, listed),
			});
		} catch (error) {
			if (!isFailure(error, 'unavailable') || onUnavailable === undefined) throw error;
			await onUnavailable(what, error);
		}
	}
}

/** Whom the running code works for: '' for what the server does by itself. A job has no address, and few run at once. */
function currentClient(): { client: string; network: string } {
	const { request, job } = currentContext() ?? {};
	if (request !== undefined) return queueClient(request.caller.viewer, request.caller.client.address);
	const client = job === undefined ? '' : clientKey(job.owner, '');
	return { client, network: client };
}

/** Opens the services in the order of their dependencies; `parts` are closed in reverse order. */
async function assemble<Host extends AppHost>(
	config: Config,
	database: Database,
	parts: Closable[],
	options: ServicesOptions,
	openHost: OpenHost<Host>,
) {
	const { log, serves, administrator, bodySecondMs = 1000 } = options;
	const { monotonic = () => performance.now() } = options;
	const { now } = database;
	const base = { config, database, log, now, monotonic };
	const drain = new Drain();
	const audit = createAudit({ ...base, bytesSent, administrator });
	parts.push(audit);
	const bodies = createBodies({
		secondMs: bodySecondMs,
		onSessionEnd(request, onEnd) {
			const session = sessions.keyOf(request);
			return session === undefined ? () => {} : sessions.subscribe(session, onEnd);
		},
		onVisitorsEnd: (onEnd) => services.settingTransfers.enter('visitorUploads', onEnd),
	});
	const secret = config.sessionKey ?? (await readOrMakeSecret(config.dataDir, log));
	if (serves) await assertSameSecret(database, secret);

	// Plugins may keep `server.files` for later, but the storage opens only when all of them have registered their providers.
	let openStorage: MountedStorage | undefined;
	const openedStorage = () => {
		if (openStorage === undefined) throw new Error('server.files can be used once the server has started.');
		return openStorage;
	};
	const coordination = await createCoordination({
		...{ ...base, audit, secret, siblings: options.siblings ?? noSiblings, version: buildVersion },
		capabilities: () => members.providers.capability.all(),
		feeds: () => fileServices.feeds,
		index: () => searchIndex,
	});
	const { identity, siblings, databaseReserve, relay, nodeChanges, notifications, leases, liveProcesses, jobs } =
		coordination;
	parts.push(liveProcesses);
	const searchIndex: SearchIndex = new SearchIndex({
		...{ ...base, identity },
		onChange(marks) {
			nodeChanges.add(marks);
			relay.wake();
		},
	});
	const otherServers = new OtherServers({ ...base, identity });
	const fileServices = createFileServices({
		...{ ...base, audit, relay, notifications, leases, identity, databaseReserve, searchIndex },
		mayHaveOthers: () => otherServers.mayExist(),
		storage: openedStorage,
	});
	const { files, links, quotas, sharedFolders, memberChanges, diskUses, trees, trash, trashBin, versions } =
		fileServices;

	const { dataDir } = config;
	const isOffered = (capability: string) => liveProcesses.isOffered(capability);
	const { members, logs } = createHostMembers({
		...{ dataDir, files, bodies, notifications, jobs, isOffered, database, databaseReserve, log },
	});
	const { providers } = members;
	const plugins = await findPlugins(config);
	const ownSessions = createSessions({ ...base, store: database.sessions, secret, siblings, audit });
	const sessions = auditedSessions(ownSessions.sessions, audit);
	const opened = await openHost({ plugins, members, drain, serveSessions: ownSessions.serve });
	const { host } = opened;
	// At once, while connections still may end by themselves.
	host.ext('onPreStop', () => jobs.stop());
	host.ext('onPostStop', () => ownSessions.close());
	await startPlugins(opened, plugins, log);
	providers.auth.get(config.auth);

	const node = nodeAmongOthers(config);
	const claims =
		node === undefined || !serves
			? undefined
			: new RootClaims({
					...{ store: database.leases, identity, node: nodeInFileNames(node), monotonic, log },
					onLost: () => void roots.reloadInBackground(),
				});
	const removals = serves ? undefined : new Removals();
	const roots: Roots = await Roots.open({
		...{ drivers: providers.storage, config, database, log, identity, monotonic },
		claims,
		readers: database.processes === undefined ? otherServers : liveProcesses,
		wrap: (storage) => searchIndex.noted(removals?.watched(storage) ?? storage),
	});
	parts.push(roots, ...(removals === undefined ? [] : [removals]), searchIndex);
	const storage = new MountedStorage(roots);
	openStorage = storage;
	if (serves) await otherServers.announce();
	parts.push(otherServers, diskUses, quotas, relay, trashBin);
	// Closed before its dependencies.
	parts.push(jobs);

	const hasEnded = async (name: string) =>
		!otherServers.mayExist() || (identity.canTell(name) ? identity.hasEnded(name) : liveProcesses.isSilent(name));
	const services = createServices({
		...{ ...base, version: buildVersion, drain, audit, bodies, providers, secret, siblings, diskUses },
		processes: { name: identity.name, hasEnded },
		...{ databaseReserve, notifications, leases, jobs, liveProcesses, versionPaths: fileServices.versionPaths },
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
	host.ext('onPreStop', () => services.streams.endAll());
	return {
		...{ host: opened, services, providers, logs, identity, siblings, liveProcesses, jobs, searchIndex, roots },
		/** What is opened later is closed with the others, and before them. */
		closeToo: (part: Closable) => void parts.push(part),
		/** Takes no new work, lets what runs end for a while, then closes everything. */
		async stop() {
			try {
				await opened.stop();
			} finally {
				await closeAll(parts, log);
			}
		},
	};
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

/** What a command has: the services, whether the server runs or not. */
export interface CommandServices {
	services: Services;
	/** What plugins offer. */
	providers: Providers;
	stop(): Promise<void>;
}

/**
 * Opens the services for a command, which serves nothing: without an HTTP server and its routes, unless a plugin needs one to be started.
 */
export function openCommandServices(
	config: Config,
	given: { log: Log; administrator?: Administrator },
): Promise<CommandServices> {
	const { log } = given;
	for (const warning of config.warnings) log.warn({ reason: warning }, 'an environment variable was ignored');
	const openHost: OpenHost<AppHost> = async ({ plugins, members, ...others }) => {
		const needsHttp = [...plugins.values()].some(({ plugin }) => plugin.needsHttp !== false);
		if (!needsHttp) return createCommandHost(members);
		const { openHttp } = await import('./http/openHttp.js');
		return openHttp({ ...others, members, config, log, maxEventLoopDelayMs: 0, connections: undefined });
	};
	return openServices(config, { ...given, serves: false }, openHost, async ({ services, providers, stop }) => ({
		...{ services, providers, stop },
	}));
}
