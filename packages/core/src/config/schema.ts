import { isIP } from 'node:net';
import path from 'node:path';
import { z } from 'zod';
import { isHostPattern } from './allowedHosts.js';
import { parseNetwork } from './networks.js';

/** A size in the configuration: whole bytes, or a number with a unit of base 1024. */
const sizeUnits: Record<string, number> = { b: 1, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3, tb: 1024 ** 4 };

/** The bytes that a text such as `500 MB` names; nothing if it names none. */
export function parseByteSize(text: string): number | undefined {
	const match = /^(\d+(?:\.\d+)?)\s*([kmgt]?b)?$/i.exec(text.trim());
	const bytes = match ? Math.floor(Number(match[1]) * (sizeUnits[(match[2] ?? 'b').toLowerCase()] ?? 1)) : Number.NaN;
	return Number.isSafeInteger(bytes) ? bytes : undefined;
}

const sizeExamples = "a size such as 0, 1048576, '500 MB' or '2 GB'";

const byteSize = z.union([z.number(), z.string()], `must be ${sizeExamples}`).transform((value, context) => {
	const bytes = parseByteSize(String(value));
	if (bytes !== undefined) return bytes;
	context.addIssue({ code: 'custom', message: `must be ${sizeExamples}` });
	return z.NEVER;
});

/** A time span in the configuration; parsed to milliseconds. */
const timeUnits: Record<string, number> = { second: 1000, minute: 60_000, hour: 3_600_000, day: 86_400_000 };

/** The types of all time spans, by which their settings are found. */
export const timeSpans = new Set<z.ZodType>();

interface Span {
	min: number;
	max: number;
	/** Whether it may also be 0, for none. */
	orNone: boolean;
	message: string;
}

/** A number without its unit is milliseconds. A bare 5 is a slip: it stands for seconds or days. */
const leastBareMs = 1000;

function timeSpan({ min, max, orNone, message }: Span) {
	const type = z.union([z.number(), z.string()], message).transform((value, context) => {
		const [text, count, unit = ''] =
			/^(\d+(?:\.\d+)?)\s*(?:(second|minute|hour|day)s?)?$/i.exec(String(value).trim()) ?? [];
		const milliseconds =
			text === undefined ? Number.NaN : Math.round(Number(count) * (timeUnits[unit.toLowerCase()] ?? 1));
		if (orNone && milliseconds === 0) return 0;
		if (milliseconds >= (unit === '' ? Math.max(min, leastBareMs) : min) && milliseconds <= max) return milliseconds;
		context.addIssue({ code: 'custom', message });
		return z.NEVER;
	});
	timeSpans.add(type);
	return type;
}

const duration = timeSpan({
	...{ min: 60_000, max: Number.MAX_SAFE_INTEGER, orNone: false },
	message: "must be a time of at least a minute such as '30 minutes', '12 hours' or '7 days'",
});

const durationOrNone = timeSpan({
	...{ min: 60_000, max: Number.MAX_SAFE_INTEGER, orNone: true },
	message: "must be 0, or a time of at least a minute with its unit, such as '12 hours' or '7 days'",
});

/** The milliseconds of a time span in the configuration; undefined for an invalid text. */
export function parseDuration(text: string): number | undefined {
	const parsed = duration.safeParse(text);
	return parsed.success ? parsed.data : undefined;
}

/** A time span in the configuration. */
export function durationText(milliseconds: number): string {
	const [name, unit] = Object.entries(timeUnits).findLast(([, unit]) => milliseconds % unit === 0) ?? ['second', 1000];
	const count = milliseconds / unit;
	return `${count} ${name}${count === 1 ? '' : 's'}`;
}

const wholeNumber = (min: number, max: number) =>
	z.preprocess(
		(value) => (typeof value === 'string' && /^\d+$/.test(value.trim()) ? Number(value) : value),
		z
			.int(`must be a whole number from ${min} to ${max}`)
			.min(min, `must be at least ${min}`)
			.max(max, `must be at most ${max}`),
	);

const flag = z.preprocess(
	(value) => (value === 'true' ? true : value === 'false' ? false : value),
	z.boolean('must be true or false'),
);

const choice = <const Values extends readonly string[]>(...values: Values) =>
	z.enum(values, `must be one of ${values.join(', ')}`);

/** A list; as a flag or variable its parts are separated by commas. */
const list = z.preprocess(
	(value) =>
		typeof value === 'string'
			? value
					.split(',')
					.map((part) => part.trim())
					.filter(Boolean)
			: value,
	z.array(z.string('must be a text'), 'must be a list'),
);

const pathText = "must be empty or begin with '/' and not end with one, such as /files";

const basePath = z.string(pathText).refine(isBasePath, pathText);

function isBasePath(text: string): boolean {
	const [first, ...segments] = text.split('/');
	return first === '' && segments.every((each) => /^[A-Za-z0-9._~-]+$/.test(each) && each !== '.' && each !== '..');
}

const networks = list.superRefine((texts, context) => {
	const wrong = texts.find((text) => parseNetwork(text) === undefined);
	if (wrong === undefined) return;
	const message = `${JSON.stringify(wrong)} must be an address or a network such as 10.0.0.0/8`;
	context.addIssue({ code: 'custom', message });
});

const hosts = list.superRefine((texts, context) => {
	const wrong = texts.find((text) => !isHostPattern(text));
	if (wrong === undefined) return;
	const message = `${JSON.stringify(wrong)} must be a host such as files.example.org, one with its port, or *.example.org`;
	context.addIssue({ code: 'custom', message });
});

const webAddress = 'must be empty or a web address such as https://files.example.org';

const publicUrl = z.string(webAddress).refine((text) => text === '' || isWebOrigin(text), webAddress);

function isWebOrigin(text: string): boolean {
	const url = URL.canParse(text) ? new URL(text) : undefined;
	return url !== undefined && ['http:', 'https:'].includes(url.protocol) && url.search === '' && url.hash === '';
}

/** Empty is allowed. */
function isListenAddress(text: string): boolean {
	const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text) ?? [];
	if (port === undefined) return text === '';
	return Number(port) <= 65535 && (bracketed === undefined ? isIP(plain ?? '') === 4 : isIP(bracketed) === 6);
}

/** A map of plugins: the package's name and its options; `false` disables one that is on by default. */
const plugins = z.preprocess(
	(value) => (typeof value === 'string' ? parseJson(value) : value),
	z.record(
		z.string().min(1),
		z.union([z.literal(false), z.record(z.string(), z.unknown())], 'must be a map of options, or false'),
		'must be a map of package names to options',
	),
);

function parseJson(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		// The schema refuses it, with the name of the setting.
		return text;
	}
}

const nonEmpty = z.string('must be a text').min(1, 'must not be empty');

const noMap = 'must be a map of settings';

const socketText = 'must be empty or unix: and a path, such as unix:/run/stowage/stowage.sock';
const modeText = 'must be a mode in octal digits, such as 660';
const umaskText = 'must be empty or octal digits, such as 027';
const nodeText = 'must be a text of at most 255 characters';
const databaseText = "must begin with 'sqlite:' or 'mysql://'";
const keyText = 'must be a text of at least 32 characters';
const metricsText = 'must be empty or an address with a port, such as 127.0.0.1:9464 or [::1]:9464';

/** Every setting, with its default. `config/default.yaml` documents each. */
export const configSchema = z.strictObject({
	host: nonEmpty.default('127.0.0.1'),
	port: wholeNumber(0, 65535).default(7420),
	listen: z
		.string(socketText)
		.regex(/^(unix:\/.{1,100})?$/, socketText)
		.default(''),
	socketMode: z
		.preprocess((value) => (typeof value === 'number' ? String(value) : value), z.string(modeText))
		.refine((text) => /^0?[0-7]{3}$/.test(text), modeText)
		.default('660'),
	umask: z
		.preprocess((value) => (typeof value === 'number' ? String(value).padStart(3, '0') : value), z.string(umaskText))
		.refine((text) => /^(0?[0-7]{3})?$/.test(text), umaskText)
		.default(''),
	node: z.string(nodeText).max(255, nodeText).default(''),
	dataDir: nonEmpty.default('./data'),
	databaseUrl: z
		.string(databaseText)
		.regex(/^(sqlite:|mysql:\/\/).+/, databaseText)
		.optional(),
	basePath: basePath.default(''),
	publicUrl: publicUrl.default(''),
	allowedHosts: hosts.default([]),
	trustedProxies: networks.default([]),
	drainDelay: timeSpan({
		...{ min: 0, max: 10_000, orNone: true },
		message: "must be 0, or a time of at most 10 seconds with its unit, such as '5 seconds'",
	}).default(0),
	workers: z.union([z.literal('auto'), wholeNumber(1, 64)], "must be 'auto' or a whole number from 1 to 64").default(1),
	maxConnectionsPerAddress: wholeNumber(1, 10_000).default(512),
	registration: choice('open', 'closed').default('open'),
	registrationsPerHour: wholeNumber(1, 1_000_000).default(300),
	visitors: choice('upload', 'read', 'off').default('upload'),
	publicListing: choice('own', 'everyone').default('own'),
	sessionKey: z.string(keyText).min(32, keyText).optional(),
	storage: nonEmpty.default('local'),
	auth: nonEmpty.default('password'),
	uploads: z
		.strictObject(
			{
				maxFileSize: byteSize.default(0),
				freeSpaceReserve: z.union([z.literal('auto'), byteSize], `must be 'auto' or ${sizeExamples}`).default('auto'),
				expireAfter: duration.default(7 * 24 * 60 * 60 * 1000),
				anonymousBytesPerHour: byteSize.default(20 * 1024 ** 3),
				anonymousFilesPerHour: wholeNumber(0, 1_000_000_000).default(10_000),
				anonymousTotalBytesPerHour: byteSize.default(100 * 1024 ** 3),
				anonymousTotalFilesPerHour: wholeNumber(0, 1_000_000_000).default(50_000),
				anonymousUnfinished: wholeNumber(0, 1_000_000).default(200),
				anonymousMetadataSize: byteSize.default(2048),
				addressBytesPerHour: byteSize.default(0),
				addressFilesPerHour: wholeNumber(0, 1_000_000_000).default(0),
			},
			noMap,
		)
		.prefault({}),
	quotas: z
		.strictObject(
			{
				userBytes: byteSize.default(0),
				userEntries: wholeNumber(0, 1_000_000_000).default(0),
				anonymousBytes: byteSize.default(100 * 1024 ** 3),
				anonymousEntries: wholeNumber(0, 1_000_000_000).default(100_000),
			},
			noMap,
		)
		.prefault({}),
	trash: z.strictObject({ keepFor: durationOrNone.default(30 * 24 * 60 * 60 * 1000) }, noMap).prefault({}),
	versions: z.strictObject({ keepFor: durationOrNone.default(30 * 24 * 60 * 60 * 1000) }, noMap).prefault({}),
	shares: z
		.strictObject(
			{
				enabled: flag.default(true),
				maxLifetime: durationOrNone.default(0),
				requirePassword: flag.default(false),
			},
			noMap,
		)
		.prefault({}),
	downloads: z
		.strictObject(
			{
				accelRedirect: basePath.default(''),
				maxZipEntries: wholeNumber(1, 100_000_000).default(1_000_000),
			},
			noMap,
		)
		.prefault({}),
	thumbnails: z
		.strictObject(
			{
				cacheSize: byteSize.default(2 * 1024 ** 3),
				concurrency: z
					.union([z.literal('auto'), wholeNumber(1, 256)], "must be 'auto' or a whole number from 1 to 256")
					.default('auto'),
			},
			noMap,
		)
		.prefault({}),
	search: z
		.strictObject(
			{
				index: flag.default(true),
				exclude: list.default([]),
				checkEvery: duration.default(60 * 60_000),
			},
			noMap,
		)
		.prefault({}),
	jobs: z.strictObject({ run: flag.default(true) }, noMap).prefault({}),
	externalViewers: flag.default(false),
	audit: z
		.strictObject(
			{
				record: choice('off', 'changes', 'all').default('changes'),
				keepFor: duration.default(90 * 24 * 60 * 60 * 1000),
				maxSize: byteSize.default(500 * 1024 ** 2),
			},
			noMap,
		)
		.prefault({}),
	metrics: z
		.strictObject(
			{
				listen: z.string(metricsText).refine(isListenAddress, metricsText).default(''),
			},
			noMap,
		)
		.prefault({}),
	log: z.strictObject({ level: choice('debug', 'info', 'warn', 'error').default('info') }, noMap).prefault({}),
	plugins: plugins.default({}),
});

type Parsed = z.output<typeof configSchema>;

export type Config = Omit<Parsed, 'databaseUrl' | 'plugins'> & {
	databaseUrl: string;
	/** Names with their options, in the order of loading. */
	plugins: ReadonlyMap<string, Record<string, unknown>>;
	/** Names of those that come with the program. */
	ownPlugins: readonly string[];
	/** Names of plugins that are turned off. */
	disabledPlugins: readonly string[];
	/** The folder that relative paths and plugin names are resolved from. */
	baseDir: string;
	/** Warnings for the administrator, in sentences. */
	warnings: readonly string[];
};

/** Where relative paths begin: names of plugins at the site, the others where they were written. */
interface Bases {
	site: string;
	dataDir: string;
	databaseUrl: string;
}

/** Fills in defaults that depend on other settings. */
export function completeConfig(
	parsed: Parsed,
	bases: Bases,
	defaultPlugins: readonly string[],
	warnings: readonly string[],
): Config {
	const dataDir = path.resolve(bases.dataDir, parsed.dataDir);
	const plugins = new Map<string, Record<string, unknown>>();
	const disabledPlugins: string[] = [];
	for (const name of new Set([...defaultPlugins, ...Object.keys(parsed.plugins)])) {
		const options = parsed.plugins[name] ?? {};
		if (options === false) disabledPlugins.push(name);
		else plugins.set(name, options);
	}
	const databaseUrl = parsed.databaseUrl ?? `sqlite:${path.join(dataDir, 'stowage.db')}`;
	return {
		...parsed,
		dataDir,
		databaseUrl: absoluteDatabase(databaseUrl, bases.databaseUrl),
		plugins,
		ownPlugins: defaultPlugins,
		disabledPlugins,
		baseDir: bases.site,
		warnings,
	};
}

function absoluteDatabase(url: string, baseDir: string): string {
	return url.startsWith('sqlite:') ? `sqlite:${path.resolve(baseDir, url.slice('sqlite:'.length))}` : url;
}
