import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { pino } from 'pino';
import { ConfigError } from '../../src/config/load.js';
import { createApp, loadConfig } from '../../src/index.js';
import { startPlugins } from '../../src/plugins/loadPlugins.js';

/** A module that exports this as its plugin. */
const moduleOf = (plugin: string) => `data:text/javascript,${encodeURIComponent(`export const plugin = ${plugin};`)}`;

const whole = (name: string, start: string) =>
	`{ name: '${name}', version: '1.0.0', needs: [], options: { safeParse: (data) => ({ success: true, data }) }, start: ${start} }`;

/** Why a server with these plugins beside its own doesn't start. */
async function failureOf(t: ExecutionContext, ...plugins: string[]): Promise<Error | undefined> {
	const dataDir = await mkdtemp(path.join(os.tmpdir(), 'stowage-plugins-'));
	t.teardown(() => rm(dataDir, { recursive: true, force: true }));
	const given = Object.fromEntries(plugins.map((plugin) => [moduleOf(plugin), {}]));
	const config = loadConfig({
		flags: { '--data-dir': dataDir, '--port': '0', '--plugins': JSON.stringify(given) },
		defaultPlugins: ['@stowage/storage-local', '@stowage/auth-password', '@stowage/zip'],
	});
	try {
		await (await createApp(config, { log: pino({ level: 'silent' }) })).stop();
		return undefined;
	} catch (error) {
		return error as Error;
	}
}

const isNoPlugin = async (t: ExecutionContext, plugin: string, lacks: string) => {
	const error = await failureOf(t, plugin);
	t.true(error instanceof ConfigError, String(error));
	t.true(error?.message.endsWith(`has no export 'plugin' made by definePlugin.${lacks}`), error?.message);
};
test('nothing is no plugin', isNoPlugin, 'undefined', '');
test(
	'a plugin with start alone lacks the rest',
	isNoPlugin,
	'{ start() {} }',
	' It lacks name, version, options, needs.',
);
test(
	'a plugin without needs is refused by name',
	isNoPlugin,
	"{ name: 'a', version: '1', start() {}, options: { safeParse: () => ({ success: true, data: {} }) } }",
	' It lacks needs.',
);

test('a plugin whose schema fails stops the server with its name', async (t) => {
	const failing = "{ name: 'a', version: '1', needs: [], start() {}, options: { safeParse() { throw 'no schema'; } } }";
	const error = await failureOf(t, failing);
	t.true(error instanceof ConfigError);
	t.regex(error?.message ?? '', /^The options of the plugin data:.* can't be checked: no schema$/);
});

const fails = async (t: ExecutionContext, thrown: string, reason: string) => {
	const error = await failureOf(t, whole('failing', `() => { throw ${thrown}; }`));
	t.regex(error?.message ?? '', /^The plugin data:.* failed to start: /);
	t.true(error?.message.endsWith(`failed to start: ${reason}`), error?.message);
};
test('a plugin that throws an error stops the server with its message', fails, "new Error('no server')", 'no server');
test('a plugin that throws nothing stops the server with its name', fails, 'undefined', 'undefined');
test('a plugin that throws a text stops the server with it', fails, "'no server'", 'no server');
test(
	'a plugin that throws an error without a message stops the server with its kind',
	fails,
	'new TypeError()',
	'TypeError',
);

const route = (url: string) =>
	`(server) => server.route({ method: 'GET', path: '${url}', options: { auth: false }, handler: () => 'x' })`;

test('a route of two plugins stops the server with the names of both', async (t) => {
	const error = await failureOf(t, whole('first', route('/api/mine')), whole('second', route('/api/mine')));
	t.regex(error?.message ?? '', /^The plugin data:.*second.* failed to start: /);
	t.true(error?.message.endsWith('the route /api/mine is one of the plugin first already'), error?.message);
});

test('a route of a plugin that is the server’s own stops the server with its name', async (t) => {
	const error = await failureOf(t, whole('greedy', route('/api/checkLoginStatus')));
	t.is(error?.message, "The plugin greedy has the route /api/checkLoginStatus, which is the server's own.");
});

test('a plugin that takes long to start is named in the log', async (t) => {
	const lines: unknown[] = [];
	const register = async (_: unknown, start: (host: never) => unknown) => void (await start({} as never));
	let isSaid = () => {};
	const said = new Promise<void>((resolve) => {
		isSaid = resolve;
	});
	const log = {
		warn(line: object, message: string) {
			lines.push({ ...line, message });
			isSaid();
		},
	};
	const plugin = { name: 'slow', version: '1', needs: [], options: undefined, start: () => said };
	const found = new Map([['slow', { plugin, options: {} }]]);
	await startPlugins({ register } as never, found as never, log as never, 10);
	t.deepEqual(lines, [{ plugin: 'slow', message: 'a plugin takes long to start' }]);
});
