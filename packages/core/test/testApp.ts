import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { inspect } from 'node:util';
import { DatabaseUnavailable } from '@stowage/database';
import { pino } from 'pino';
import { memoryFolder } from '../../../test/memoryFolder.js';
import { placeDatabase } from '../../database/test/emptyDatabase.js';
import type { AuditClass } from '../src/audit/auditClasses.js';
import { auditFiles, auditFolder } from '../src/audit/auditFolder.js';
import type { AuditRecord } from '../src/audit/auditLine.js';
import { readAudit } from '../src/audit/readAudit.js';
import { type App, type AppOptions, createApp, loadConfig } from '../src/index.js';
import { formOfRun, secondDataDir, severalApps } from './severalApps.js';

export interface TestApp extends App {
	dataDir: string;
	/** The folder that holds `Public` and `users`. */
	filesDir: string;
}

type Teardown = { teardown(end: () => Promise<void>): void };

/**
 * A whole server on a temporary folder, with the real storage and database; argon2id costs as little as it may. The
 * folder is in memory: disks are tested with the storage, the database and whole processes.
 */
export async function testApp(
	t: Teardown,
	flags: Record<string, string> = {},
	options: AppOptions = {},
): Promise<TestApp> {
	const form = formOfRun();
	if (form === undefined) return singleApp(t, flags, options);
	return severalApps(t, form, flags, options, (each, more) => singleApp(t, each, more));
}

async function singleApp(t: Teardown, flags: Record<string, string>, options: AppOptions): Promise<TestApp> {
	const dataDir = await memoryFolder(t, 64);
	const plugins = JSON.stringify({ '@stowage/auth-password': { memoryKiB: 19456, iterations: 2, parallelism: 1 } });
	const config = loadConfig({
		// Most tests put files there themselves, which an index notices later.
		flags: { '--data-dir': dataDir, '--port': '0', '--plugins': plugins, '--search-index': 'false', ...flags },
		defaultPlugins: ['@stowage/storage-local', '@stowage/auth-password', '@stowage/zip'],
	});
	const databaseFile = path.join(dataDir, 'stowage.db');
	if (config.databaseUrl === `sqlite:${databaseFile}`) await placeDatabase(databaseFile);
	const app = await createApp(config, {
		log: pino({ level: 'silent' }),
		// No test measures the delay of the event loop: a busy machine must not be taken for an overloaded server.
		maxEventLoopDelayMs: 0,
		...options,
	});
	if (flags['--plugins'] === undefined) cacheHashes(app);
	try {
		await app.start();
	} catch (error) {
		await app.stop();
		// The report of a test leaves its cause out.
		if (error instanceof DatabaseUnavailable) throw new Error(`The server did not start: ${inspect(error)}`);
		throw error;
	}
	t.teardown(() => app.stop());
	return { ...app, dataDir, filesDir: path.join(dataDir, 'files') };
}

/** All lines of the audit log, or those of one class, that have reached its files, of all nodes. */
export async function auditText(app: TestApp, of?: AuditClass): Promise<string> {
	const texts: string[] = [];
	for (const folder of dataDirs(app).map(auditFolder))
		for (const each of await auditFiles(folder))
			if (of === undefined || each.class === of) texts.push(await readFile(path.join(folder, each.file), 'utf8'));
	return texts.join('');
}

/** All records of the audit log that have reached its files, of all servers that stand in place of one, by their times. */
export async function recordsOf(app: TestApp): Promise<AuditRecord[]> {
	const records: AuditRecord[] = [];
	for (const dataDir of dataDirs(app)) for await (const record of readAudit(dataDir, {})) records.push(record);
	// Each process writes its lines some time after what they say.
	return formOfRun() === undefined ? records : records.sort((one, other) => one.time.localeCompare(other.time));
}

/** The data folders of all servers that stand in place of one. */
export function dataDirs({ dataDir }: TestApp): string[] {
	return formOfRun() === 'nodes' ? [dataDir, secondDataDir(dataDir)] : [dataDir];
}

const hashes = new Map<string, Promise<unknown>>();

/**
 * Hashes each password once in a process, and compares it once with each secret: that costs more than all else in a
 * sign-in, and most tests begin with one. The strength of hashes is tested with the plugin.
 */
export function cacheHashes(app: App): void {
	const provider = app.server.providers.auth.get('password');
	const { hash, verify } = provider;
	const once = <T>(key: readonly unknown[], make: () => Promise<T>): Promise<T> => {
		const name = JSON.stringify(key);
		const made = (hashes.get(name) as Promise<T> | undefined) ?? make();
		hashes.set(name, made);
		made.catch(() => hashes.delete(name));
		return made;
	};
	provider.hash = (password) => once([password], () => hash(password));
	provider.verify = (secret, password) => once([secret ?? null, password], () => verify(secret, password));
}

/** Replaces the clock by which the first root has its times. */
export function setDiskClock({ services }: App, currentTime: () => number): void {
	Object.assign(services.roots.first.storage, { currentTime: async () => currentTime() });
}

/** Replaces what the disk of the first root reports, in bytes. */
export function reportSpace(
	{ services }: App,
	disk: { freeSpace?(): Promise<number | undefined>; totalSpace?(): Promise<number | undefined> },
): void {
	Object.assign(services.roots.first.storage, disk);
}

/** A response as it was received. */
export interface Answer {
	statusCode: number;
	headers: IncomingHttpHeaders;
	payload: string;
	bytes: Buffer;
}

/** A client with its cookies, over real connections. */
export class Client {
	cookie: string | undefined;
	/** The cookie by which the server recognizes a client that has signed in before. */
	device: string | undefined;
	/** The cookie that says that this host has begun the session. */
	binding: string | undefined;

	constructor(readonly app: App) {}

	async call(method: string, url: string, payload?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
		const body =
			payload === undefined || Buffer.isBuffer(payload) || typeof payload === 'string'
				? payload
				: JSON.stringify(payload);
		const cookies = [this.cookie, this.device, this.binding].filter(Boolean).join('; ');
		const { hostname, port } = new URL(this.app.server.info.uri);
		// The path unchanged: a URL would resolve its dots.
		const sent = request({
			hostname,
			port,
			path: url,
			method,
			agent: false,
			headers: {
				...(cookies === '' ? {} : { cookie: cookies }),
				...(body === undefined
					? {}
					: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
				...headers,
			},
		});
		sent.end(body);
		const [answer] = (await once(sent, 'response')) as [IncomingMessage];
		const bytes = await buffer(answer);
		for (const line of answer.headers['set-cookie'] ?? []) {
			const [pair = ''] = line.split(';');
			if (/^(__\w+-)?device=/.test(pair)) this.device = pair;
			else this[pair.startsWith('__Host-sid-') ? 'binding' : 'cookie'] = /Max-Age=0/i.test(line) ? undefined : pair;
		}
		return { statusCode: answer.statusCode ?? 0, headers: answer.headers, payload: bytes.toString(), bytes };
	}

	get(url: string, headers?: Record<string, string>) {
		return this.call('GET', url, undefined, headers);
	}

	post(url: string, payload: unknown, headers?: Record<string, string>) {
		return this.call('POST', url, payload, headers);
	}

	upload(url: string, parts: readonly Part[], headers: Record<string, string> = {}) {
		const { body, type } = form(parts);
		return this.call('POST', url, body, { 'content-type': type, ...headers });
	}

	async register(username: string, password = 'correct horse'): Promise<this> {
		const response = await this.post('/api/register', { username, password, passwordConfirm: password });
		if (response.statusCode !== 200) throw new Error(`${username} was not registered: ${response.payload}`);
		return this;
	}
}

export interface Part {
	name: string;
	value: string | Buffer;
	fileName?: string;
}

/** A multipart body. */
export function form(parts: readonly Part[], boundary = 'stowage-test-boundary'): { body: Buffer; type: string } {
	const chunks = parts.flatMap(({ name, value, fileName }) => [
		Buffer.from(
			`--${boundary}\r\nContent-Disposition: form-data; name="${name}"${fileName === undefined ? '' : `; filename="${fileName}"`}\r\n${
				fileName === undefined ? '' : 'Content-Type: application/octet-stream\r\n'
			}\r\n`,
		),
		Buffer.from(value),
		Buffer.from('\r\n'),
	]);
	return {
		body: Buffer.concat([...chunks, Buffer.from(`--${boundary}--\r\n`)]),
		type: `multipart/form-data; boundary=${boundary}`,
	};
}

export const file = (fileName: string, value: string | Buffer): Part => ({ name: 'file', value, fileName });
export const field = (name: string, value: string): Part => ({ name, value });

export const json = (response: Answer) => JSON.parse(response.payload);
