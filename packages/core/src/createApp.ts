import { createRequire } from 'node:module';
import type { Server as HapiServer } from '@hapi/hapi';
import inert from '@hapi/inert';
import { type Database, openDatabase } from '@stowage/database';
import type { Providers } from '@stowage/plugin-api';
import { createAccounts } from './accounts/accounts.js';
import { auditedAccounts, auditedSessions } from './accounts/auditedAccounts.js';
import { createKnownClients } from './accounts/knownClients.js';
import { registerSessions } from './accounts/sessions.js';
import { createArchives, defaultArchiveLimits } from './archives/createArchives.js';
import { createAudit } from './audit/createAudit.js';
import { createBodies } from './bodies/createBodies.js';
import { makeDataDir } from './config/dataDir.js';
import { type Reloaded, reloadConfig } from './config/reload.js';
import type { Config } from './config/schema.js';
import { readOrMakeSecret } from './config/secret.js';
import { EventRelay } from './events/EventRelay.js';
import { EventStreams } from './events/EventStreams.js';
import { createNotifications } from './events/notifications.js';
import { auditedFiles } from './files/auditedFiles.js';
import { createFiles } from './files/createFiles.js';
import { treeOf } from './files/places.js';
import { FolderFeeds } from './files/watching/FolderFeeds.js';
import { listen } from './http/connections/unixSocket.js';
import { createServer } from './http/createServer.js';
import { createJobs } from './jobs/createJobs.js';
import { createLeases } from './leases/createLeases.js';
import { identifyProcess } from './leases/processIdentity.js';
import { createDatabaseReserve } from './limits/databaseReserve.js';
import { FairQueue } from './limits/FairQueue.js';
import { auditedLinks } from './links/auditedLinks.js';
import { createLinks } from './links/createLinks.js';
import { createLog, type Log } from './log.js';
import { createMetrics } from './metrics/createMetrics.js';
import { createHomeMoves } from './moving/createHomeMoves.js';
import { createPasting } from './pasting/createPasting.js';
import { loadPlugins } from './plugins/loadPlugins.js';
import { createRegistry } from './plugins/registry.js';
import { createQuotas } from './quotas/createQuotas.js';
import { bytesSent } from './responses/writeBody.js';
import { absentPluginRoutes } from './routes/absentPlugins.js';
import { accountRoutes } from './routes/accounts.js';
import { downloadRoutes } from './routes/downloads.js';
import { eventRoutes } from './routes/events.js';
import { fileRoutes } from './routes/files.js';
import { jobRoutes } from './routes/jobs.js';
import { linkRoutes } from './routes/links.js';
import { pageRoutes } from './routes/page.js';
import { resumableUploadRoutes } from './routes/resumableUploads.js';
import { serviceRoutes } from './routes/service.js';
import { thumbnailRoutes } from './routes/thumbnails.js';
import { ticketRoutes } from './routes/tickets.js';
import { uploadRoutes } from './routes/uploads.js';
import { viewerRoutes } from './routes/viewers.js';
import type { Services } from './services.js';
import { availableSpace } from './storage/freeSpace.js';
import type { MountedStorage } from './storage/MountedStorage.js';
import { openStorage } from './storage/openStorage.js';
import { Roots } from './storage/Roots.js';
import { sweep } from './sweep.js';
import { createThumbnails } from './thumbnails/createThumbnails.js';
import { openThumbnailCache } from './thumbnails/DiskThumbnailCache.js';
import { createTickets } from './tickets/createTickets.js';
import { Transfers } from './tickets/Transfers.js';
import { InFlightUploads } from './uploads/InFlightUploads.js';
import { createUploadLimits } from './uploads/limits/uploadLimits.js';
import { createUploadSpace } from './uploads/limits/uploadSpace.js';
import { createResumableUploads } from './uploads/resumable/createResumableUploads.js';
import { speakTus } from './uploads/resumable/tusProtocol.js';

export interface App {
	server: HapiServer;
	services: Services;
	/** Begins to listen. Resolves to the address, such as `http://127.0.0.1:7420` or `unix:/run/stowage/stowage.sock`. */
	start(): Promise<string>;
	/** Takes over what of another configuration can change while it runs, and names what can't. */
	reload(next: Config): Reloaded;
	/** Takes no new work, lets running transfers end for a while, then closes everything. */
	stop(): Promise<void>;
}

export interface AppOptions {
	/** The folder of the built page; without it only the API answers. */
	webRoot?: string;
	log?: Log;
	/** The time of day, milliseconds since the epoch: for all that is stored. */
	now?: () => number;
	/** Milliseconds of a clock that nobody sets: for spans within this process. */
	monotonic?: () => number;
	/** Milliseconds of a second in which a body has to come. @default 1000 */
	bodySecondMs?: number;
	/** Milliseconds that the event loop may be late before requests are refused with 503; 0 never refuses. */
	mostLateMs?: number;
	/** Who uses the command line, by the name of the system: the audit log names them for what belongs to no request. */
	systemUser?: string;
}

type AllOptions = Required<Omit<AppOptions, 'webRoot' | 'systemUser'>> &
	Record<'webRoot' | 'systemUser', string | undefined>;

/** Both src and dist lie beside package.json. */
const { version } = createRequire(import.meta.url)('../package.json') as { version: string };

const drainMs = 10_000;

/** Builds the server with its database, storage and plugins. What is wrong with the configuration or a plugin is thrown here, before it listens. */
export async function createApp(
	config: Config,
	{
		webRoot,
		log = createLog(config.log.level),
		now = Date.now,
		monotonic = () => performance.now(),
		bodySecondMs = 1000,
		mostLateMs = 5000,
		systemUser,
	}: AppOptions = {},
): Promise<App> {
	for (const warning of config.warnings) log.warn(warning);
	await makeDataDir(config.dataDir);
	const database = await openDatabase(config.databaseUrl, { now });
	const parts: Closable[] = [database];
	try {
		return await assemble(config, database, parts, {
			webRoot,
			log,
			now,
			monotonic,
			bodySecondMs,
			mostLateMs,
			systemUser,
		});
	} catch (error) {
		await closeAll(parts, log);
		throw error;
	}
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

async function assemble(
	config: Config,
	database: Database,
	parts: Closable[],
	{ webRoot, log, now, monotonic, bodySecondMs, mostLateMs, systemUser }: AllOptions,
): Promise<App> {
	const server = createServer(config, log, mostLateMs);
	const audit = createAudit({ config, log, now, monotonic, bytesSent, systemUser });
	parts.push(audit);
	const providers: Providers = {
		storage: createRegistry('storage'),
		auth: createRegistry('auth provider'),
		archive: createRegistry('archive format'),
		capability: createRegistry('capability'),
		renderer: createRegistry('renderer'),
	};
	server.decorate('server', 'providers', providers);
	server.decorate('server', 'dataDir', config.dataDir);
	const databaseReserve = createDatabaseReserve(database);
	server.decorate('server', 'keyValues', (scope: string) => databaseReserve.optional(database.keyValues(scope)));
	const logs = [log];
	server.decorate('server', 'logOf', (plugin: string) => {
		const own = log.child({ plugin });
		logs.push(own);
		return own;
	});
	const bodies = createBodies(bodySecondMs);
	server.decorate('server', 'bodies', bodies);
	const secret = config.sessionKey ?? (await readOrMakeSecret(config.dataDir, log));
	const identity = await identifyProcess();
	const relay = new EventRelay({
		store: database.events,
		identity,
		secret,
		databaseReserve,
		notifications: createNotifications(monotonic),
		folders: () => feeds,
		monotonic,
		log,
	});
	const notifications = relay.notifications();
	server.decorate('server', 'notifications', notifications);
	const leases = createLeases({ store: database.leases, identity, monotonic });
	const jobs = createJobs({
		store: database.jobs,
		users: database.users,
		notifications,
		databaseReserve,
		log,
		now,
		monotonic,
		identity,
		onEnd({ kind, title }, { status, error }) {
			const outcome = status === 'completed' ? 'ok' : status;
			audit.record({ action: 'jobEnd', kind, title }, { outcome, ...(error === null ? {} : { reason: error }) });
		},
	});
	server.decorate('server', 'jobs', jobs);
	// At once, while connections still may end by themselves.
	server.ext('onPreStop', () => jobs.stop());
	await server.register(inert);
	const sessions = auditedSessions(await registerSessions(server, database.sessions, config, secret, log, now), audit);
	const knownClients = createKnownClients(config, secret, now);

	// Plugins may take `server.files` for later, but the storage opens only when all of them have offered what they have.
	let opened: MountedStorage | undefined;
	const openedStorage = () => {
		if (opened === undefined) throw new Error('server.files can be used once the server has started.');
		return opened;
	};
	const links = auditedLinks(
		createLinks({ links: database.links, storage: openedStorage, leases, log, now, monotonic }),
		audit,
	);
	const quotas = createQuotas({
		config,
		users: database.users,
		uploads: database.uploads,
		storage: openedStorage,
		log,
		monotonic,
	});
	const feeds = new FolderFeeds(openedStorage, log, relay);
	const { users, publishedNames } = database;
	const files = auditedFiles(
		createFiles(openedStorage, config, log, links.watcher, quotas, config.dataDir, users, feeds, publishedNames),
		audit,
	);
	server.decorate('server', 'files', files);
	await loadPlugins(server, config);
	providers.auth.get(config.auth);
	const roots = await Roots.open({ drivers: providers.storage, config, database, log, identity, monotonic });
	parts.push(roots);
	const storage = await openStorage(roots, log);
	opened = storage;
	parts.push(relay);
	// Closed before what its runs use.
	parts.push(jobs);

	const ownAccounts = createAccounts({
		users: database.users,
		limits: database.limits,
		config,
		now,
		auth: () => providers.auth.get(config.auth),
		storage,
		renames: database.keyValues('user-renames'),
	});
	const accounts = auditedAccounts(ownAccounts, audit);
	const walkQueue = new FairQueue(
		{ running: 8, runningPerClient: 2, waiting: 400, waitingPerClient: 64 },
		'Too many searches and ZIPs are under way. Please try again in a moment.',
	);
	const archives = createArchives({
		files,
		format: () => providers.archive.find('zip'),
		walks: walkQueue,
		limits: {
			...defaultArchiveLimits,
			get maxEntries() {
				return config.downloads.maxZipEntries;
			},
		},
	});
	const thumbnails = createThumbnails({
		files,
		storage: openedStorage,
		renderers: providers.renderer,
		cache: openThumbnailCache(config, log),
		folder: config.dataDir,
		concurrency: config.thumbnails.concurrency,
		log,
	});
	const streams = new EventStreams();
	// They last as long as their pages: nobody waits for them to end.
	server.ext('onPreStop', () => streams.endAll());
	const tickets = createTickets({
		store: database.tickets,
		rates: database.limits,
		databaseReserve,
		available: () => availableSpace(storage, config.uploads),
		isSessionAlive: sessions.isAlive,
		now,
	});
	const transfers = new Transfers({ notifications, tickets, onSessionEnd: sessions.subscribe });
	const uploadSpace = createUploadSpace({
		async spaceFor(viewer) {
			const at = treeOf(viewer);
			const { storage: disk } = await storage.mountAt(at);
			return { disk, free: await availableSpace(storage, config.uploads, at) };
		},
		monotonic,
	});
	const uploadLimits = createUploadLimits({ config, database, log, now });
	const resumableUploads = createResumableUploads({
		config,
		bodies,
		database,
		files,
		storage,
		log,
		space: uploadSpace,
		limits: uploadLimits,
		quotas,
		leases,
		now,
		monotonic,
	});
	const pasting = createPasting(jobs, { files, uploadLimits, walkQueue, log, monotonic });
	const homeMoves = createHomeMoves({
		jobs,
		jobStore: database.jobs,
		users: database.users,
		roots,
		database,
		config,
		log,
		monotonic,
	});
	const inFlightUploads = new InFlightUploads();
	parts.push(inFlightUploads);
	speakTus(server, config.basePath);
	const services: Services = {
		config,
		version,
		log,
		audit,
		bodies,
		database,
		databaseReserve,
		storage,
		roots,
		accounts,
		sessions,
		knownClients,
		files,
		links,
		archives,
		tickets,
		transfers,
		walkQueue,
		thumbnails,
		notifications,
		jobs,
		leases,
		pasting,
		homeMoves,
		streams,
		resumableUploads,
		quotas,
		inFlightUploads,
		now,
		uploadSpace,
		uploadLimits,
	};
	const routes = [
		accountRoutes,
		fileRoutes,
		uploadRoutes,
		resumableUploadRoutes,
		downloadRoutes,
		ticketRoutes,
		eventRoutes,
		thumbnailRoutes,
		linkRoutes,
		jobRoutes,
		viewerRoutes,
		serviceRoutes,
	].flatMap((make) => make(services));
	routes.push(...absentPluginRoutes(server, config.basePath));
	if (webRoot !== undefined) routes.push(...(await pageRoutes(config, webRoot)));
	await server.register(
		{ name: 'stowage', register: (own) => own.route(routes) },
		config.basePath === '' ? {} : { routes: { prefix: config.basePath } },
	);

	if (config.basePath !== '') {
		// A typed or bookmarked slash at the end: hapi knows the path without it only.
		server.route({
			method: 'GET',
			path: `${config.basePath}/`,
			options: { auth: false },
			handler: (_request, h) => h.redirect(config.basePath),
		});
	}

	const metrics = config.metrics.listen === '' ? undefined : createMetrics(server, services);
	if (metrics !== undefined) parts.push(metrics);
	const sweeping = setInterval(() => void sweep(services), 60 * 60_000);
	sweeping.unref();
	return {
		server,
		services,
		async start() {
			if (metrics !== undefined) log.info({ address: await metrics.listen() }, 'metrics are told');
			const address = await listen(server, config);
			jobs.begin();
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
				await server.stop({ timeout: drainMs });
			} finally {
				await closeAll(parts, log);
			}
		},
	};
}
