import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseDatabaseUrl } from '@stowage/database';
import { describeIssue, type Server, type StowagePlugin } from '@stowage/plugin-api';
import { resolve } from 'import-meta-resolve';
import { ConfigError } from '../config/load.js';
import type { Config } from '../config/schema.js';
import { assertRootsAlone } from './assertRootsAlone.js';
import type { AppHost } from './pluginHost.js';

export type FoundPlugins = ReadonlyMap<string, { plugin: StowagePlugin; options: unknown }>;

/**
 * Starts the plugins. One that fails stops the server with its name and the reason: a server without its auth plugin must not run open.
 */
export async function startPlugins({ register }: AppHost, found: FoundPlugins): Promise<void> {
	for (const [name, { plugin, options }] of found) {
		try {
			// Of a command's host, one that needs no HTTP server uses what is there.
			await register(plugin, (host) => plugin.start(host as Server, options));
		} catch (cause) {
			throw new Error(`The plugin ${name} failed to start: ${(cause as Error).message}`, { cause });
		}
	}
}

/**
 * Validates everything that can be wrong before anything is opened: the database's address, the plugins and their options. Throws the
 * errors of a start.
 */
export async function checkConfig(config: Config): Promise<void> {
	parseDatabaseUrl(config.databaseUrl);
	await findPlugins(config);
}

/**
 * Loads the plugins of the configuration and checks their options; none is started. Throws ConfigError for one that is missing or gets a
 * wrong option.
 */
export async function findPlugins(
	config: Pick<Config, 'plugins' | 'ownPlugins' | 'baseDir' | 'dataDir'>,
): Promise<FoundPlugins> {
	const loaded = new Map<string, { plugin: StowagePlugin; options: unknown }>();
	for (const [name, given] of config.plugins) {
		const plugin = await importPlugin(name, config);
		const options = plugin.options.safeParse(given);
		if (!options.success) {
			throw new ConfigError(
				`The plugin ${name} was given a wrong option: ${options.error.issues.map(describeIssue).join('; ')}`,
			);
		}
		loaded.set(name, { plugin, options: options.data });
	}
	for (const [name, { plugin }] of loaded) {
		const missing = plugin.needs.filter((needed) => !loaded.has(needed));
		if (missing.length > 0)
			throw new ConfigError(`The plugin ${name} needs ${missing.join(', ')}, which the configuration does not name.`);
	}
	return loaded;
}

async function importPlugin(
	name: string,
	config: Pick<Config, 'ownPlugins' | 'baseDir' | 'dataDir'>,
): Promise<StowagePlugin> {
	let module: { plugin?: StowagePlugin };
	try {
		const { url, isOwn } = await locate(name, config);
		// Such as a command of root's in a data folder of root's: who had written the module would be root.
		if (!isOwn && process.geteuid?.() === 0) await assertRootsAlone(url, { ...config, name });
		module = await import(url);
	} catch (cause) {
		if (cause instanceof ConfigError) throw cause;
		throw new ConfigError(`The plugin ${name} can't be loaded: ${(cause as Error).message}`, { cause });
	}
	if (module.plugin === undefined || typeof module.plugin.start !== 'function') {
		throw new ConfigError(`The package ${name} has no export 'plugin' made by definePlugin.`);
	}
	return module.plugin;
}

/**
 * The server's own packages are resolved from here, a site's own from the folder of its configuration. `isOwn` if it comes with the
 * program.
 */
async function locate(
	name: string,
	{ ownPlugins, baseDir }: Pick<Config, 'ownPlugins' | 'baseDir'>,
): Promise<{ url: string; isOwn: boolean }> {
	try {
		return { url: import.meta.resolve(name), isOwn: ownPlugins.includes(name) };
	} catch {
		// It is not part of the server. A folder that can't be resolved contains no plugin either, which the next line reports.
		const base = await realpath(baseDir).catch(() => baseDir);
		return { url: resolve(name, pathToFileURL(path.join(base, 'stowage.config')).href), isOwn: false };
	}
}
