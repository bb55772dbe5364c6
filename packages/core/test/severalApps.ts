import { AsyncLocalStorage } from 'node:async_hooks';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import path from 'node:path';
import { sharedDatabase } from '../../database/test/sharedServers.js';
import {
	type App,
	type AppOptions,
	type ConnectionSource,
	loadConfig,
	type SiblingListeners,
	type Siblings,
} from '../src/index.js';

/** What stands in place of each server in a run of all tests with several. */
type Form = 'workers' | 'processes' | 'nodes';

/** The workers of a server on SQLite, or those that share a database server. */
const counts: Record<Form, number> = { workers: 4, processes: 2, nodes: 2 };

type Flags = Record<string, string>;
type Teardown = { teardown(end: () => Promise<void>): void };
type Make<A extends App> = (flags: Flags, options: AppOptions) => Promise<A>;

/** The form of each server in this run of the tests; undefined for one process alone. */
export function formOfRun(): Form | undefined {
	const form = process.env.STOWAGE_TEST_FORM;
	if (form === undefined || Object.hasOwn(counts, form)) return form as Form | undefined;
	throw new Error(`There is no form ${form} of a server.`);
}

/** How many servers stand in place of each one, which get its connections in turn. */
export const serversOfRun = counts[formOfRun() as Form] ?? 1;

/** The URLs of the database of a data folder, at each node: a test may start servers one after another over one. */
const databases = new Map<string, readonly string[]>();

/**
 * Several servers in place of one: each connection goes to the next one, so that what a request has changed the other
 * ones have to know. What a test asks of `services` it asks the first one. They share this process.
 */
export async function severalApps<A extends App>(
	t: Teardown,
	form: Form,
	flags: Flags,
	options: AppOptions,
	make: Make<A>,
): Promise<A> {
	if (flags['--listen'] !== undefined)
		throw new Error('The socket of several servers belongs to their primary process.');
	const front = await listen(flags);
	const siblings = form === 'workers' ? createSiblings() : undefined;
	const urls = form === 'workers' ? [] : await databaseOf(t, flags);
	const apps: A[] = [];
	const stop = async () => {
		const ends = await Promise.allSettled(apps.map((app) => app.stop()));
		front.close();
		for (const end of ends) if (end.status === 'rejected') throw end.reason;
	};
	try {
		for (let n = 0; n < counts[form]; n++) {
			const dataDir = apps[0]?.services.config.dataDir;
			const own = form === 'nodes' ? nodeFlags(t, n, flags, dataDir) : processFlags(dataDir);
			const database = urls[n % urls.length];
			const coordination: Flags =
				database === undefined ? { '--workers': String(counts.workers) } : { '--database-url': database };
			const more = { ...options, connections: front.source(), siblings: siblings?.(n === 0) };
			apps.push(await make({ ...coordination, ...flags, ...own }, more));
			if (n === 0 && form !== 'workers') databases.set((apps[0] as A).services.config.dataDir, urls);
		}
	} catch (error) {
		await stop();
		throw error;
	}
	const { uri, port } = front;
	for (const { server } of apps) Object.assign(server.info, { uri, port });
	const [first, ...others] = apps as [A, ...A[]];
	return {
		...first,
		server: serverOfAll(apps, front.isListening),
		services: mirrored(
			first.services,
			others.map(({ services }) => services),
		),
		reload(next) {
			const [reloaded] = apps.map((app) => app.reload(next));
			return reloaded as ReturnType<App['reload']>;
		},
		stop,
	};
}

/** The database of the data folder that a test names, or a new one. */
async function databaseOf(t: Teardown, flags: Flags): Promise<readonly string[]> {
	const given = flags['--database-url'];
	if (given !== undefined) return [given];
	return databases.get(flags['--data-dir'] ?? '') ?? (await sharedDatabase(t));
}

function processFlags(firstDataDir: string | undefined): Flags {
	return firstDataDir === undefined ? {} : { '--data-dir': firstDataDir };
}

/** A node has a data folder of its own, and the storage root of the first one. */
function nodeFlags(t: Teardown, n: number, flags: Flags, firstDataDir: string | undefined): Flags {
	const key = { '--session-key': 'one key for both nodes, longer than 32 characters', ...flags }['--session-key'];
	const node = { '--node': ['one', 'two'][n] as string, '--session-key': key as string };
	if (firstDataDir === undefined) return node;
	const dataDir = secondDataDir(firstDataDir);
	t.teardown(() => rm(dataDir, { recursive: true, force: true }));
	const plugins = JSON.parse(flags['--plugins'] ?? '{}') as Record<string, object>;
	const storage = { root: path.join(firstDataDir, 'files'), ...plugins['@stowage/storage-local'] };
	const password = { memoryKiB: 19456, iterations: 2, parallelism: 1, ...plugins['@stowage/auth-password'] };
	return {
		...node,
		'--data-dir': dataDir,
		'--plugins': JSON.stringify({ ...plugins, '@stowage/auth-password': password, '@stowage/storage-local': storage }),
	};
}

/** The data folder of the second node, by that of the first one. */
export function secondDataDir(firstDataDir: string): string {
	return `${firstDataDir}-two`;
}

/** The first server, whose listener and providers are those of all. */
function serverOfAll(apps: readonly App[], isListening: () => boolean): App['server'] {
	const [first, ...others] = apps.map(({ server }) => server) as [App['server'], ...App['server'][]];
	const listeners = apps.map(({ server }) => server.listener);
	const listener = new Proxy(first.listener, {
		get(target, name) {
			if (name === 'listening') return isListening();
			if (name === 'getConnections')
				return (done: (error: null, count: number) => void) =>
					done(
						null,
						apps.reduce((sum, { services }) => sum + services.drain.connections, 0),
					);
			const value = Reflect.get(target, name, target);
			if (typeof value !== 'function') return value;
			const isForAll = ['on', 'once', 'off', 'removeListener'].includes(String(name));
			return (...words: unknown[]) =>
				(isForAll ? listeners : [target]).map((each) => Reflect.apply(value, each, words))[0];
		},
	});
	const providers = (kind: string) => {
		const all = [first, ...others].map((server) => Reflect.get(server.providers, kind));
		return {
			...all[0],
			register: (...words: unknown[]) => all.map((each) => each.register(...words))[0],
			get: (name: string) => {
				const [one, ...same] = all.map((each) => each.get(name));
				return mirrored(one, same);
			},
		};
	};
	const providersOfAll = Object.fromEntries(Object.keys(first.providers).map((kind) => [kind, providers(kind)]));
	return new Proxy(first, {
		get(target, name) {
			if (name === 'listener') return listener;
			if (name === 'providers') return providersOfAll;
			if (name === 'route')
				return (...words: Parameters<App['server']['route']>) => {
					for (const { server } of apps) server.route(...words);
				};
			const value = Reflect.get(target, name, target);
			return typeof value === 'function' ? value.bind(target) : value;
		},
	});
}

/** Which of the servers has called a function that a test has put in place of one of its own. */
const caller = new AsyncLocalStorage<number>();

/**
 * An object whose properties a test may replace, at any depth: they are replaced in the same objects of the others, too.
 * A function that such a replacement calls in turn is that of the server that has called the replacement.
 */
function mirrored<T extends object>(object: T, others: readonly T[]): T {
	const all = [object, ...others];
	return new Proxy(object, {
		get(_target, name) {
			const values = all.map((one) => Reflect.get(one, name, one) as unknown);
			const [value] = values;
			if (typeof value === 'function') {
				// Private fields are those of the object itself.
				const call = (n: number, words: unknown[]) => (values[n] as typeof value).apply(all[n], words);
				if (!forAll.has(name)) return (...words: unknown[]) => call(caller.getStore() ?? 0, words);
				return (...words: unknown[]) => Promise.all(all.map((_, n) => call(n, words)));
			}
			const isMirrored = values.every((one) => typeof one === 'object' && one !== null && !Array.isArray(one));
			if (!isMirrored || isBuiltIn(value as object)) return value;
			return mirrored(value as object, values.slice(1) as object[]);
		},
		set(_target, name, value) {
			return all.every((one, n) => {
				const own = (...words: unknown[]) => caller.run(n, () => value(...words));
				return Reflect.set(one, name, typeof value === 'function' ? own : value);
			});
		},
		deleteProperty: (_target, name) => all.every((one) => Reflect.deleteProperty(one, name)),
	});
}

/** Calls that concern what each process has under way. */
const forAll = new Set<string | symbol>(['close', 'flush']);

const isBuiltIn = (value: object) => [Map, Set, Promise, Date].some((kind) => value instanceof kind);

/** Listens in place of the servers, as their primary process or a balancer does. */
async function listen(flags: Flags) {
	const accepting: ((socket: Socket) => void)[] = [];
	const server = createServer({ pauseOnConnect: true, allowHalfOpen: true }, (socket) => {
		const next = accepting.shift();
		if (next === undefined) return void socket.destroy();
		accepting.push(next);
		next(socket);
	});
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	const { port } = server.address() as AddressInfo;
	const uri = `http://127.0.0.1:${port}`;
	return {
		uri,
		port,
		/** The connections of one of them. */
		source(): ConnectionSource {
			let accept: ((socket: Socket) => void) | undefined;
			return {
				address: `${uri}${loadConfig({ flags }).basePath}`,
				begin(taking) {
					accept = taking;
					accepting.push(taking);
				},
				async end() {
					if (accept === undefined) return;
					accepting.splice(accepting.indexOf(accept), 1);
					accept = undefined;
					if (accepting.length === 0) server.close();
				},
			};
		},
		isListening: () => server.listening,
		close: () => void server.close(),
	};
}

/** Passes on what workers tell each other, as their primary process does. */
export function createSiblings() {
	const listeners = new Map<string, SiblingListeners>();
	return (isLeader: boolean): Siblings => {
		let own = '';
		return {
			join(name, each) {
				own = name;
				for (const other of listeners.values()) other.onJoined(name);
				listeners.set(name, each);
			},
			send(messages, to) {
				const copies = structuredClone(messages);
				setImmediate(() => {
					for (const [name, { onMessages }] of listeners)
						if (name !== own && (to === undefined || to === name)) onMessages(copies);
				});
			},
			get names() {
				return new Set([...listeners.keys()].filter((name) => name !== own));
			},
			isLeader,
		};
	};
}
