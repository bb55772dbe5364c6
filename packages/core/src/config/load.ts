import { closeSync, constants, fstatSync, openSync, readFileSync, readSync, type Stats } from 'node:fs';
import path from 'node:path';
import { DatabaseError } from '@stowage/database';
import { NoRegularFileError } from '@stowage/plugin-api';
import { parse, YAMLParseError } from 'yaml';
import type { z } from 'zod';
import { flagOf, settingNames, variableOf } from './leaves.js';
import { nearest } from './nearest.js';
import { type Config, completeConfig, configSchema } from './schema.js';
import { isSecretName, withoutSecrets } from './secrets.js';

/** An error in the configuration. The message names the setting, its source, its value and what is allowed. */
export class ConfigError extends Error {
	override name = 'ConfigError';
}

/** Whether only an administrator can correct the error that stopped the start, so that a retry is useless. */
export function isStartupMistake(error: unknown): error is Error {
	return [ConfigError, DatabaseError, NoRegularFileError].some((kind) => error instanceof kind);
}

export interface ConfigSources {
	/** Flags without their dashes' meaning: `{'--port': '8080'}`. */
	flags?: Readonly<Record<string, string>>;
	env?: Readonly<Record<string, string | undefined>>;
	/** The working directory: relative paths begin here, unless a file is read: then in the file's folder. */
	cwd?: string;
	/** Plugins that are enabled unless the configuration says `false`. */
	defaultPlugins?: readonly string[];
}

type Tree = { [key: string]: unknown };

/** Our own variables that are no settings. */
const otherVariables = ['STOWAGE_CONFIG'];

/** Reads the configuration: flags first, then `STOWAGE_*`, then the file, then the defaults. Throws ConfigError. */
export function loadConfig({
	flags = {},
	env = {},
	cwd = process.cwd(),
	defaultPlugins = [],
}: ConfigSources = {}): Config {
	const file = flags['--config'] ?? env.STOWAGE_CONFIG;
	const filePath = file === undefined || file === '' ? undefined : path.resolve(cwd, file);
	const settings = filePath === undefined ? {} : readConfigFile(filePath);
	const origins = new Map<string, string>();
	const warnings = foreignVariables(env);
	for (const [flag, value] of Object.entries(flags)) {
		if (flag !== '--config' && !settingNames.some((key) => flagOf(key) === flag)) {
			throw new ConfigError(
				`There is no setting ${flag} (${shown(flag, { [flag]: value })}). Did you mean ${nearest(flag, settingNames.map(flagOf))}?`,
			);
		}
	}
	for (const name of settingNames) {
		const variable = env[variableOf(name)];
		if (variable !== undefined && variable !== '' && !isServiceAddress(variable)) {
			set(settings, origins, name, variable, variableOf(name));
		}
		const flag = flags[flagOf(name)];
		if (flag !== undefined) set(settings, origins, name, flag, flagOf(name));
	}
	const result = configSchema.safeParse(settings);
	if (!result.success) throw new ConfigError(explain(result.error.issues, settings, origins, filePath));
	// A path from a flag or variable is relative to the working directory; one in the file is relative to the file.
	const fileDir = filePath === undefined ? cwd : path.dirname(filePath);
	const baseOf = (name: string) => (origins.has(name) ? cwd : fileDir);
	const bases = { site: fileDir, dataDir: baseOf('dataDir'), databaseUrl: baseOf('databaseUrl') };
	assertOwnPort(result.data);
	return completeConfig(result.data, bases, defaultPlugins, warnings);
}

/** Metrics are for the administrator only, so they need a listener of their own. */
function assertOwnPort({ listen, port, metrics }: { listen: string; port: number; metrics: { listen: string } }): void {
	if (listen !== '' || port === 0 || !metrics.listen.endsWith(`:${port}`)) return;
	throw new ConfigError(
		`The setting metrics.listen must have another port than ${port}, at which the files are served.`,
	);
}

/**
 * Service managers pass programs the addresses of each other in variables: for a service `stowage` Kubernetes sets STOWAGE_PORT to this,
 * beside STOWAGE_SERVICE_HOST and more.
 */
function isServiceAddress(value: string): boolean {
	return /^(tcp|udp|sctp):\/\//.test(value);
}

/**
 * A warning for each variable that looks like a setting and is none. It does not stop the start, since other programs set such variables
 * too.
 */
function foreignVariables(env: Readonly<Record<string, string | undefined>>): string[] {
	const known = settingNames.map(variableOf);
	return Object.entries(env).flatMap(([name, value]) => {
		if (!name.startsWith('STOWAGE_') || otherVariables.includes(name)) return [];
		if (!known.includes(name))
			return [`There is no setting ${name}; the variable is ignored. Did you mean ${nearest(name, known)}?`];
		if (value === undefined || !isServiceAddress(value)) return [];
		return [`The variable ${name} is the address of a service, as Kubernetes sets it, and no setting; it is ignored.`];
	});
}

function readConfigFile(filePath: string): Tree {
	let text: string;
	try {
		text = readConfigBytes(filePath).toString();
	} catch (cause) {
		if (cause instanceof ConfigError) throw cause;
		const { code = 'unknown' } = cause as NodeJS.ErrnoException;
		throw new ConfigError(`The configuration file ${filePath} can't be read (${code}).`, { cause });
	}
	let tree: unknown;
	try {
		// Its warnings would be printed with the line.
		tree = parse(text, { logLevel: 'error' });
	} catch (error) {
		// Without the cause, whose message has the lines of the file: they may contain a password.
		throw new ConfigError(`The configuration file ${filePath} is not valid YAML: ${yamlError(error)}`);
	}
	if (tree === null) return {};
	if (typeof tree !== 'object' || Array.isArray(tree))
		throw new ConfigError(`The configuration file ${filePath} must hold a map of settings.`);
	return tree as Tree;
}

/** Far more than all settings take. */
const maxFileBytes = 4 * 1024 * 1024;

/**
 * What a configuration file holds. Waits for nobody at a pipe that lies in its place, but reads what a shell passes by a descriptor, as
 * `--config <(...)` does. Throws ConfigError for what is no file or too large, and what the system says.
 */
export function readConfigBytes(filePath: string): Buffer {
	if (/^\/(dev|proc)\//.test(filePath)) return readPassed(filePath);
	return readOpened(filePath, openSync(filePath, constants.O_RDONLY | constants.O_NONBLOCK)).bytes;
}

/** What is passed may have no size, and `/dev/zero` has no end. */
function readPassed(filePath: string): Buffer {
	const descriptor = openSync(filePath, constants.O_RDONLY);
	try {
		const bytes = Buffer.alloc(maxFileBytes + 1);
		let length = 0;
		for (let read = -1; read !== 0 && length <= maxFileBytes; length += read)
			read = readSync(descriptor, bytes, length, bytes.length - length, null);
		if (length > maxFileBytes) throw tooLarge(filePath);
		return bytes.subarray(0, length);
	} finally {
		closeSync(descriptor);
	}
}

const tooLarge = (name: string) =>
	new ConfigError(`The configuration file ${name} has more than ${maxFileBytes} bytes.`);

/** The bytes and the owner of one and the same configuration file, which is no link. `at` is its path, and `name` what it is called. */
export function readConfigAt(at: string, name: string): { bytes: Buffer; stat: Stats } {
	const { O_RDONLY, O_NONBLOCK, O_NOFOLLOW } = constants;
	return readOpened(name, openSync(at, O_RDONLY | O_NONBLOCK | O_NOFOLLOW));
}

function readOpened(name: string, descriptor: number): { bytes: Buffer; stat: Stats } {
	try {
		const stat = fstatSync(descriptor);
		if (!stat.isFile() && !stat.isDirectory()) throw new ConfigError(`The configuration file ${name} is no file.`);
		if (stat.size > maxFileBytes) throw tooLarge(name);
		return { bytes: readFileSync(descriptor), stat };
	} finally {
		closeSync(descriptor);
	}
}

/** What is wrong, by the parser's code: its messages quote the file, in which a value may be a secret. */
const yamlFaults: Readonly<Record<YAMLParseError['code'], string>> = {
	ALIAS_PROPS: 'an alias has an anchor or a tag',
	BAD_ALIAS: 'an alias or an anchor has no usable name',
	BAD_COLLECTION_TYPE: 'a tag does not fit its value',
	BAD_DIRECTIVE: 'a line that begins with % is no directive',
	BAD_DQ_ESCAPE: 'in double quotes a backslash begins no known escape sequence (in single quotes it is a character)',
	BAD_INDENT: 'a line is indented too little, or not like the others',
	BAD_PROP_ORDER: 'an anchor or a tag stands before the indicator that it belongs behind',
	BAD_SCALAR_START: 'a value begins with a character that is reserved (it is written in quotes)',
	BLOCK_AS_IMPLICIT_KEY:
		'a value holds another list or map, or a colon with a space behind it (it is written in quotes)',
	BLOCK_IN_FLOW: 'an indented list or map stands in brackets or braces',
	DUPLICATE_KEY: 'a name is there twice',
	IMPOSSIBLE: 'it can’t be read',
	KEY_OVER_1024_CHARS: 'a name is too long',
	MISSING_CHAR: 'a quote, bracket, comma, colon or space is missing',
	MULTILINE_IMPLICIT_KEY: 'a name with its colon is not on one line',
	MULTIPLE_ANCHORS: 'a value has several anchors',
	MULTIPLE_DOCS: 'it has several documents',
	MULTIPLE_TAGS: 'a value has several tags',
	NON_STRING_KEY: 'a name is no text',
	RESOURCE_EXHAUSTION: 'it is nested too deeply',
	TAB_AS_INDENT: 'a line is indented with a tab',
	TAG_RESOLVE_FAILED: 'a tag is not known (a value that begins with ! is written in quotes)',
	UNEXPECTED_TOKEN: 'something stands where it can’t (a value that begins with a sign is written in quotes)',
};

/** What is wrong, with its line and column, and nothing of what stands there. */
function yamlError(error: unknown): string {
	if (!(error instanceof YAMLParseError))
		return 'an alias is not defined (a value that begins with * is written in quotes)';
	const [at] = error.linePos ?? [];
	return `${yamlFaults[error.code]}${at === undefined ? '' : ` at line ${at.line}, column ${at.col}`}`;
}

function set(tree: Tree, origins: Map<string, string>, name: string, value: unknown, origin: string): void {
	const keys = name.split('.');
	const last = keys.pop() as string;
	let node = tree;
	for (const key of keys) {
		const next = node[key];
		if (next === undefined || next === null) node[key] = {};
		// A wrong shape in the file is left for the schema to name.
		else if (typeof next !== 'object') return;
		node = node[key] as Tree;
	}
	node[last] = value;
	origins.set(name, origin);
}

function explain(
	issues: readonly z.core.$ZodIssue[],
	tree: Tree,
	origins: Map<string, string>,
	filePath: string | undefined,
): string {
	return issues
		.map((issue) => {
			if (issue.code === 'unrecognized_keys') {
				const names = issue.keys.map((key) => [...issue.path, key].join('.'));
				const values = names.map((name) => shown(name, tree));
				return `There is no setting ${names.join(', ')} (${values.join(', ')})${filePath ? ` in ${filePath}` : ''}. Did you mean ${names.map((name) => nearest(name, settingNames)).join(', ')}?`;
			}
			const name = issue.path.join('.');
			const origin = origins.get(name) ?? filePath ?? 'default';
			return `The setting ${name} (${origin}) has the value ${shown(name, tree)}: ${issue.message}`;
		})
		.join('\n');
}

/** Secret values are never logged, not even invalid ones. */
function shown(name: string, tree: Tree): string {
	const value = name in tree ? tree[name] : valueAt(tree, name);
	const [last = ''] = name.split('.').slice(-1);
	// The options of plugins, as a text of JSON or in place of a map.
	const isOptions = /^plugins(\.|$)/.test(name) && typeof value === 'string';
	return isSecretName(name) || isOptions ? '(not shown)' : quote(value, last);
}

function valueAt(tree: Tree, name: string): unknown {
	return name.split('.').reduce<unknown>((node, key) => (node as Tree | undefined)?.[key], tree);
}

function quote(value: unknown, name: string): string {
	if (value === undefined) return 'nothing';
	try {
		// In YAML a list may contain itself.
		JSON.stringify(value);
	} catch {
		return 'what holds itself';
	}
	return JSON.stringify(withoutSecrets(value, name));
}
