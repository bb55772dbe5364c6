import type { Server as HapiServer } from '@hapi/hapi';
import { type Reloaded, reloadConfig } from './config/reload.js';
import type { Config } from './config/schema.js';
import { strangersMay } from './config/strangers.js';
import type { Siblings } from './events/siblings.js';
import type { ConnectionSource } from './http/connections/accepting.js';
import { type Http, openHttp } from './http/openHttp.js';
import { createLog, type Log } from './log.js';
import type { Metrics } from './metrics/createMetrics.js';
import { type OnUnavailable, type OpenHost, type OpenServices, openServices } from './openServices.js';
import { registerRoutes } from './routes/registerRoutes.js';
import type { Services } from './services.js';
import { createSweep } from './sweep.js';

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
	log?: Log;
	/** The time of day, milliseconds since the epoch: for all that is stored. */
	now?: () => number;
	/** Milliseconds of a monotonic clock: for spans within this process. */
	monotonic?: () => number;
	/** The length of a second in the minimum speed of bodies, in milliseconds. @default 1000 */
	bodySecondMs?: number;
	/** Milliseconds that the event loop may be late before requests are refused with 503; 0 never refuses. @default 5000 */
	maxEventLoopDelayMs?: number;
	/** The process that listens in place of this one, which then serves no metrics either. */
	connections?: ConnectionSource;
	/** The processes beside this one behind the same primary process. */
	siblings?: Siblings;
	/** Called where a start lacks something for now, and tries again once it resolves. @default that is thrown */
	onUnavailable?: OnUnavailable;
}

/**
 * Builds the server with its database, storage and plugins. Errors of the configuration or a plugin are thrown here, before it listens.
 */
export async function createApp(config: Config, given: AppOptions = {}): Promise<App> {
	const { log = createLog(config.log.level), maxEventLoopDelayMs = 5000, connections } = given;
	for (const warning of config.warnings) log.warn({ reason: warning }, 'an environment variable was ignored');
	const permitted = strangersMay(config);
	if (permitted !== undefined) log.warn({ reason: permitted }, 'strangers may use this server');
	const openHost: OpenHost<Http> = (parts) => openHttp({ ...parts, config, log, maxEventLoopDelayMs, connections });
	return openServices(config, { ...given, log, serves: true }, openHost, (opened) => serving(config, opened, given));
}

async function serving(config: Config, opened: OpenServices<Http>, { webRoot, connections }: AppOptions): Promise<App> {
	const { services, logs, identity, siblings, liveProcesses, jobs, searchIndex, roots, closeToo } = opened;
	const { server, accepting } = opened.host;
	const { log } = services;
	await registerRoutes(server, services, webRoot);
	const metrics = config.metrics.listen === '' ? undefined : await openMetrics(server, services);
	if (metrics !== undefined) closeToo(metrics);
	const sweep = createSweep(services);
	const sweeping = setInterval(() => siblings.isLeader && void sweep(), 60 * 60_000);
	sweeping.unref();
	return {
		server,
		services,
		metrics,
		async start() {
			if (metrics !== undefined && connections === undefined) {
				const { serveMetrics } = await import('./metrics/serveMetrics.js');
				const served = await serveMetrics(config.metrics.listen, () => metrics.read(), log);
				closeToo(served);
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
		stop() {
			clearInterval(sweeping);
			return opened.stop();
		},
	};
}

/** Most servers count nothing. */
async function openMetrics(server: HapiServer, services: Services) {
	const { createMetrics } = await import('./metrics/createMetrics.js');
	return createMetrics(server, services);
}
