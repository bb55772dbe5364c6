import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseDatabaseUrl } from '@stowage/database';
import { describeIssue, type Server, type StowagePlugin } from '@stowage/plugin-api';
import { resolve } from 'import-meta-resolve';
import { z } from 'zod';
import { ConfigError } from '../config/load.js';
import type { Config } from '../config/schema.js';
import type { Log } from '../log.js';
import { assertRootsAlone } from './assertRootsAlone.js';
import type { AppHost } from './pluginHost.js';

export type FoundPlugins = ReadonlyMap<string, { plugin: StowagePlugin; options: unknown }>;

/**
 * Starts the plugins. One that fails stops the server with its name and the reason: a server without its auth plugin must not run open.
 */
export async function startPlugins(
	{ register }: Pick<AppHost, 'register'>,
	found: FoundPlugins,
	log: Pick<Log, 'warn'>,
	slowMs = 10_000,
): Promise<void> {
	for (const [name, { plugin, options }] of found) {
		// The start waits for it, and says nothing else meanwhile.
		const slow = setTimeout(() => log.warn({ plugin: name }, 'a plugin takes long to start'), slowMs);
		try {
			// Of a command's host, one that needs no HTTP server uses what is there.
			await register(plugin, (host) => plugin.start(host as Server, options));
		} catch (cause) {
			throw new Error(`The plugin ${name} failed to start: ${reasonOf(cause)}`, { cause });
		} finally {
			clearTimeout(slow);
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
		const options = checkedOptions(name, plugin, given);
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

/** A schema may have checks of its own, which can fail. */
function checkedOptions(name: string, plugin: StowagePlugin, given: unknown) {
	try {
		return plugin.options.safeParse(given);
	} catch (cause) {
		throw new ConfigError(`The options of the plugin ${name} can't be checked: ${reasonOf(cause)}`, { cause });
	}
}

async function importPlugin(
	name: string,
	config: Pick<Config, 'ownPlugins' | 'baseDir' | 'dataDir'>,
): Promise<StowagePlugin> {
	let module: { plugin?: unknown };
	try {
		const { url, isOwn } = await locate(name, config);
		// Such as a command of root's in a data folder of root's: who had written the module would be root.
		if (!isOwn && process.geteuid?.() === 0) await assertRootsAlone(url, { ...config, name });
		module = await import(url);
	} catch (cause) {
		if (cause instanceof ConfigError) throw cause;
		throw new ConfigError(`The plugin ${name} can't be loaded: ${reasonOf(cause)}`, { cause });
	}
	const made = definedPlugin.safeParse(module.plugin);
	if (made.success) return module.plugin as StowagePlugin;
	const wrong = made.error.issues.map(({ path: [member] }) => member).filter((member) => member !== undefined);
	const reason = wrong.length === 0 ? '' : ` It lacks ${[...new Set(wrong)].join(', ')}.`;
	throw new ConfigError(`The package ${name} has no export 'plugin' made by definePlugin.${reason}`);
}

/** What the server reads of a plugin. */
const definedPlugin = z.object({
	name: z.string().min(1),
	version: z.string(),
	options: z.custom((options) => typeof (options as { safeParse?: unknown } | undefined)?.safeParse === 'function'),
	needs: z.array(z.string()),
	start: z.custom((start) => typeof start === 'function'),
});

/** Anything can be thrown. */
function reasonOf(cause: unknown): string {
	return cause instanceof Error ? cause.message || cause.name : String(cause);
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
