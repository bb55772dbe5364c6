import type { Server } from '@hapi/hapi';
import type { z } from 'zod';

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
	/** Registers routes and providers. An error stops the server. */
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
