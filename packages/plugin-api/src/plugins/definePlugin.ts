import type { Server } from '@hapi/hapi';
import type { z } from 'zod';
import type { PluginHost } from './server.js';

/** A plugin as `definePlugin` makes it and the server loads it. */
export interface StowagePlugin {
	readonly name: string;
	readonly version: string;
	readonly options: z.ZodType;
	/** Names of plugins that must be configured too. */
	readonly needs: readonly string[];
	/** Missing from what former versions of definePlugin have made. */
	readonly needsHttp?: boolean;
	start(server: Server, options: unknown): void | Promise<void>;
}

interface Described<Options extends z.ZodType> {
	/** The package's name, as the configuration has it. */
	name: string;
	version: string;
	/** A strict object: an unknown or wrong option stops the server with its name. */
	options: Options;
	needs?: readonly string[];
}

/** A plugin that may use all of hapi's server. */
interface WithHttp<Options extends z.ZodType> extends Described<Options> {
	needsHttp?: true;
	/** Registers routes and providers. An error stops the server. */
	start(server: Server, options: z.output<Options>): void | Promise<void>;
}

/** A plugin that uses only what is there in commands, too. While all plugins of a server do so, its commands start no HTTP server. */
interface WithoutHttp<Options extends z.ZodType> extends Described<Options> {
	needsHttp: false;
	/** Registers routes and providers. An error stops the server. */
	start(host: PluginHost, options: z.output<Options>): void | Promise<void>;
}

export type PluginDefinition<Options extends z.ZodType> = WithHttp<Options> | WithoutHttp<Options>;

/** Describes a plugin. Its package exports the result as `plugin`. */
export function definePlugin<Options extends z.ZodType>(definition: PluginDefinition<Options>): StowagePlugin {
	return {
		name: definition.name,
		version: definition.version,
		options: definition.options,
		needs: definition.needs ?? [],
		needsHttp: definition.needsHttp ?? true,
		// The server parses the options by the schema of this very definition before it starts the plugin.
		start: (server, options) => definition.start(server, options as z.output<Options>),
	};
}
