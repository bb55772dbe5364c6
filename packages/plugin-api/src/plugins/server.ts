import type { Request, Server, ServerRoute } from '@hapi/hapi';
import type { Viewer } from '@stowage/rules';
import type { ArchiveFormat } from '../providers/archives.js';
import type { AuthProvider } from '../providers/auth.js';
import type { Renderer } from '../providers/renderers.js';
import type { Files } from '../services/files.js';
import type { Jobs } from '../services/jobs.js';
import type { Notifications } from '../services/notifications.js';
import type { StorageDriver } from '../storage/storage.js';
import type { KeyValueStore } from '../stores/coordination/keyValues.js';

/** Implementations by name. Looked up at each call, so the order of plugins in the configuration is free. */
export interface Registry<T> {
	/** Throws if the name is taken. */
	register(name: string, value: T): void;
	/** Throws with the registered names, if this one is not among them. */
	get(name: string): T;
	/** The value that was registered by this name; undefined if there is none. */
	find(name: string): T | undefined;
	/** All that were registered, by name, in the order of registration. */
	all(): ReadonlyMap<string, T>;
}

/** The providers of plugins, by kind. */
export interface Providers {
	readonly storage: Registry<StorageDriver>;
	readonly auth: Registry<AuthProvider>;
	readonly archive: Registry<ArchiveFormat>;
	readonly renderer: Registry<Renderer>;
	/** The features that the page may show because of a plugin, by their names in `GET /api/capabilities`; read at each request. */
	readonly capability: Registry<() => boolean>;
}

/** Lines in the log of the server, for its administrator. */
export interface PluginLog {
	info(details: object, message: string): void;
	warn(details: object, message: string): void;
	error(details: object, message: string): void;
}

/** Reads the JSON of requests in a bounded time and memory, which all requests share. */
export interface JsonBodies {
	/**
	 * Reads the JSON of a request whose body is unread, and holds the memory for it until `release`. Throws `unsupportedMediaType` unless
	 * it is declared as plain `application/json`, `tooLarge` over `maxBytes`, `timeout` when it arrives too slowly, `invalid` for a syntax
	 * error, and `rateLimited` or `unavailable` while too much is under way from this address or in all.
	 */
	readJson(request: Request, maxBytes: number): Promise<unknown>;
	/**
	 * Releases the memory that is held for a request. `route` does so after the response; a handler that no longer needs the payload may do
	 * so earlier.
	 */
	release(request: Request): void;
}

/** What the server brings to plugins. */
interface Brought {
	readonly providers: Providers;
	readonly files: Files;
	/** Whether this process, or another live one over the same database, has a capability, as known for some seconds. */
	isOffered(capability: string): boolean;
	/** A key-value store with expiry for the plugin of this name. */
	keyValues(scope: string): KeyValueStore;
	/** The log for the plugin of this name. */
	logOf(plugin: string): PluginLog;
	readonly notifications: Notifications;
	readonly jobs: Jobs;
	readonly bodies: JsonBodies;
	/** The absolute path of the folder with the server's data: its database, its secrets and, by default, the files. */
	readonly dataDir: string;
}

/** The server as a plugin has it that needs no HTTP server: commands such as `stowage user list` start it with this alone. */
export interface PluginHost extends Brought {
	/** Registers routes. In a command there are none. */
	route(routes: ServerRoute | ServerRoute[]): void;
	/** Calls `handle` when the server has started, begins to stop or has stopped; in a command only at its end. */
	ext(event: 'onPostStart' | 'onPreStop' | 'onPostStop', handle: () => void | Promise<void>): void;
}

declare module '@hapi/hapi' {
	interface Server extends Brought {}
	interface Request {
		/** The caller. */
		readonly viewer: Viewer;
	}
}

export type { Request, Server };
