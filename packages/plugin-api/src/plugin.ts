import type { Request, Server } from '@hapi/hapi';
import type { Viewer } from '@stowage/rules';
import type { z } from 'zod';
import type { ArchiveFormat } from './archives.js';
import type { AuthProvider } from './auth.js';
import type { Files } from './files.js';
import type { Jobs } from './jobs.js';
import type { JsonBodies } from './json.js';
import type { Notifications } from './notifications.js';
import type { Renderer } from './renderers.js';
import type { StorageDriver } from './storage.js';
import type { KeyValueStore } from './stores.js';

/** Implementations by name. Looked up at each call, so the order of plugins in the configuration is free. */
export interface Registry<T> {
	/** Throws if the name is taken. */
	offer(name: string, value: T): void;
	/** Throws with the names that there are, if this one was not offered. */
	get(name: string): T;
	/** Undefined if it was not offered. */
	find(name: string): T | undefined;
	/** All that were offered, by name, in the order in which they were. */
	all(): ReadonlyMap<string, T>;
}

/** What plugins offer, by kind. */
export interface Providers {
	readonly storage: Registry<StorageDriver>;
	readonly auth: Registry<AuthProvider>;
	readonly archive: Registry<ArchiveFormat>;
	readonly renderer: Registry<Renderer>;
	/** What the page may offer because of a plugin, by its name in `GET /api/capabilities`; asked each time. */
	readonly capability: Registry<() => boolean>;
}

/** Lines in the log of the server, for its administrator. */
export interface PluginLog {
	info(details: object, message: string): void;
	warn(details: object, message: string): void;
	error(details: object, message: string): void;
}

declare module '@hapi/hapi' {
	interface Server {
		readonly providers: Providers;
		readonly files: Files;
		/** A key-value store with expiry for the plugin of this name. */
		keyValues(scope: string): KeyValueStore;
		/** The log for the plugin of this name. */
		logOf(plugin: string): PluginLog;
		readonly notifications: Notifications;
		readonly jobs: Jobs;
		readonly bodies: JsonBodies;
		/** The absolute path of the folder that holds what the server keeps: its database, its secrets and, by default, the files. */
		readonly dataDir: string;
	}
	interface Request {
		/** Who asks. */
		readonly viewer: Viewer;
	}
}

export type { Request, Server };

/** A plugin as `definePlugin` makes it and the server loads it. */
export interface StowagePlugin {
	readonly name: string;
	readonly version: string;
	readonly options: z.ZodType;
	/** Names of plugins that must be configured too. */
	readonly needs: readonly string[];
	start(server: Server, options: unknown): void | Promise<void>;
}

export interface PluginDefinition<Options extends z.ZodType> {
	/** The package's name, as the configuration has it. */
	name: string;
	version: string;
	/** A strict object: an unknown or wrong option stops the server with its name. */
	options: Options;
	needs?: readonly string[];
	/** Registers routes and offers implementations. What it throws stops the server. */
	start(server: Server, options: z.output<Options>): void | Promise<void>;
}

/** Describes a plugin. Its package exports the result as `plugin`. */
export function definePlugin<Options extends z.ZodType>(definition: PluginDefinition<Options>): StowagePlugin {
	return {
		name: definition.name,
		version: definition.version,
		options: definition.options,
		needs: definition.needs ?? [],
		// The server parses the options by the schema of this very definition before it starts the plugin.
		start: (server, options) => definition.start(server, options as z.output<Options>),
	};
}
