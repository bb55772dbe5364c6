import { type AuditRecord, auditActions, readAudit } from '@stowage/core';
import { Failure, formatListSize, plural } from '@stowage/rules';
import { Command, Option } from 'commander';
import { documented } from '../commandLine/documented.js';
import { configOf, withSettings } from '../commandLine/settings.js';
import { spanOf } from '../commandLine/spans.js';
import { printRows } from '../terminal/output.js';

interface AuditOptions {
	user?: string;
	action?: string[];
	path?: string;
	since?: string;
	until?: string;
	limit?: string;
	follow?: boolean;
	json?: boolean;
}

/** Reads the audit log, whether the server runs or not; the database is not used. */
export function auditCommand(): Command {
	const command = withSettings(
		new Command('audit')
			.description('show who did what to which file, the oldest first: time, user, address, action, outcome, what')
			.option('--user <name>', 'what this user did, by name or id; anonymous is visitors')
			.addOption(new Option('--action <name...>', 'only these actions').choices(auditActions))
			.option('--path <path>', 'what was done to this path, or below it')
			.option('--since <time>', 'from then on: a time such as 2031-02-03 or 2031-02-03T04:05Z, or so long ago as 2d')
			.option('--until <time>', 'before then')
			.option('--limit <count>', 'only the latest so many')
			.option('--follow', 'go on with what is done from now on, until interrupted')
			.option('--json', 'as JSON, one object a line'),
	);
	documented(command, [
		'audit --since 2d',
		'audit --user ada --action delete move --path photos',
		'audit --limit 20 --follow',
		'audit --since 2031-02-03 --json',
	]);
	return command.action(async (options: AuditOptions) => {
		const { dataDir } = configOf(command);
		const { user, action: actions, path, follow = false } = options;
		const query = {
			user,
			actions,
			path: path?.replace(/^\/|\/$/g, ''),
			since: options.since === undefined ? undefined : timeOf('--since', options.since),
			until: options.until === undefined ? undefined : timeOf('--until', options.until),
		};
		const limit = limitOf(options.limit);
		const show = (record: AuditRecord) =>
			options.json ? console.log(JSON.stringify(record)) : printRows([rowOf(record)]);
		const latest: AuditRecord[] = [];
		let isLatest = limit === undefined;
		const onCaughtUp = () => {
			isLatest = true;
			for (const record of latest.splice(0)) show(record);
		};
		const interrupted = new AbortController();
		const interrupt = () => interrupted.abort();
		if (follow) process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
		const records = readAudit(dataDir, query, { onCaughtUp, ...(follow ? { signal: interrupted.signal } : {}) });
		for await (const record of records) {
			if (isLatest) show(record);
			else if (latest.push(record) > (limit ?? 0)) latest.shift();
		}
	});
}

const maxKept = 100_000;

function limitOf(text: string | undefined): number | undefined {
	if (text === undefined) return undefined;
	const limit = Number(text);
	if (/^\d+$/.test(text) && limit >= 1 && limit <= maxKept) return limit;
	throw new Failure('invalid', `--limit: must be a whole number from 1 to ${maxKept}, not ${text}`);
}

function timeOf(option: string, text: string): number {
	const time = /^\d+[mhdw]$/.test(text) ? Date.now() - spanOf(option, text) : Date.parse(text);
	if (!Number.isNaN(time)) return time;
	throw new Failure(
		'invalid',
		`${option}: must be a time such as 2031-02-03T04:05Z, or so long ago as 2d, not ${text}`,
	);
}

function rowOf({ time, action, outcome, reason, address, ...record }: AuditRecord): string[] {
	return [
		time,
		userText(record),
		address ?? '-',
		action,
		reason === undefined ? outcome : `${outcome} (${reason})`,
		targetText(record),
	];
}

function userText({ user, job, systemUser }: Partial<AuditRecord>): string {
	if (systemUser !== undefined) return `${systemUser} (command line)`;
	const name = user === null ? 'visitor' : (user ?? '-');
	return job === undefined ? name : `${name} (job)`;
}

function targetText({ area, owner, path, to, toArea, paths = [], ...record }: Partial<AuditRecord>): string {
	const { account, link, kind, title, entries, bytes, requests } = record;
	const at = (where: string | undefined, text: string) => (where === undefined ? text : `${where}:/${text}`);
	const whose = owner === undefined ? '' : ` of ${owner ?? 'the administrator'}`;
	return [
		account,
		kind === undefined ? undefined : `${kind}: ${title}`,
		path === undefined ? undefined : at(area, path) + whose,
		paths.length === 0 ? undefined : `${paths.map((each) => at(area, each)).join(', ')}${whose}`,
		to === undefined ? undefined : `-> ${at(toArea ?? area, to)}`,
		link === undefined ? undefined : `link ${link}`,
		entries === undefined ? undefined : plural(entries, 'entry', 'entries'),
		bytes === undefined ? undefined : formatListSize(bytes),
		requests === undefined ? undefined : plural(requests, 'request'),
	]
		.filter((part) => part !== undefined)
		.join('  ');
}
