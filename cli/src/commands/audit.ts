import { type AuditRecord, auditActions, readAudit } from '@stowage/core';
import { Failure, formatListSize, plural } from '@stowage/rules';
import { Command, Option } from 'commander';
import { withHelp } from '../commandLine/help.js';
import { loadConfigAsOwner } from '../commandLine/loadConfigAsOwner.js';
import { withSettings } from '../commandLine/settings.js';
import { localTimeText, timeOf } from '../commandLine/times.js';
import { isOnTerminal, printError, printJsonLine, RowWriter } from '../terminal/output.js';
import type { Column } from '../terminal/table.js';

interface AuditOptions {
	user?: string;
	action?: string[];
	path?: string;
	since?: string;
	until?: string;
	limit?: string;
	follow?: boolean;
	utc?: boolean;
	json?: boolean;
}

/** Reads the audit log, whether the server runs or not; the database is not used. */
export function auditCommand(): Command {
	const command = withSettings(
		new Command('audit')
			.description('show who did what to which file, the oldest first: time, user, address, action, outcome, what')
			.option(
				'--user <name>',
				'what this user did or what was done to the account, by name in whichever case, or by id; anonymous is visitors, administrator the command line',
			)
			.addOption(new Option('--action <name...>', 'only these actions').choices(auditActions))
			.option('--path <path>', 'what was done to this path, or below it')
			.option(
				'--since <time>',
				'from then on: 2031-02-03, 2031-02-03T04:05 or 04:05 in the time zone of this machine, 2031-02-03T04:05Z or with another offset, or so long ago as 2h or 3d',
			)
			.option('--until <time>', 'before then')
			.option('--utc', 'times in UTC, printed and read')
			.option('--limit <count>', 'only the latest so many')
			.option('--follow', 'go on with what is done from now on, until interrupted')
			.option('--json', 'as JSON, one object a line'),
	);
	withHelp(command, [
		'audit --since 2d',
		'audit --user ada --action delete move --path photos',
		'audit --limit 20 --follow',
		'audit --since 2031-02-03T22:00 --until 2031-02-04T06:00',
		'audit --since 2031-02-03 --utc --json',
	]);
	return command.action(async (options: AuditOptions) => {
		const { dataDir } = await loadConfigAsOwner(command);
		const { user, action: actions, path, follow = false, utc: isUtc = false } = options;
		const query = {
			user,
			actions,
			path: path?.replace(/^\/|\/$/g, ''),
			...spanOfOptions(options, isUtc),
		};
		const limit = limitOf(options.limit);
		const list = await RowWriter.open(columns);
		const show = (record: AuditRecord) => (options.json ? printJsonLine(record) : list.add(rowOf(record, isUtc)));
		const latest: AuditRecord[] = [];
		let isLatest = limit === undefined;
		let isFollowing = false;
		const forgetOld = () => latest.splice(0, Math.max(0, latest.length - (limit ?? 0)));
		const showLatest = () => {
			forgetOld();
			for (const record of latest.splice(0)) show(record);
			list.flush();
		};
		const unusable: string[] = [];
		const onCaughtUp = () => {
			isLatest = true;
			isFollowing = true;
			showLatest();
			// It may go on for days.
			if (follow) for (const sentence of firstOf(unusable.splice(0))) printError(sentence);
		};
		const interrupted = new AbortController();
		const interrupt = () => interrupted.abort();
		if (follow) process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
		const records = readAudit(dataDir, query, {
			onCaughtUp,
			onUnusable: ({ message }) => unusable.push(message),
			...(follow ? { signal: interrupted.signal } : {}),
		});
		try {
			for await (const record of records) {
				if (isLatest) show(record);
				// Many at once: to remove the first of a hundred thousand moves all others.
				else if (latest.push(record) > 2 * (limit ?? 0)) forgetOld();
				if (isFollowing) list.flush();
			}
		} finally {
			// Also where a file ends the reading.
			showLatest();
		}
		if (unusable.length > 0) throw new Failure('invalid', firstOf(unusable).join('\n'));
	});
}

const columns: readonly Column[] = [
	...[{ title: 'TIME' }, { title: 'USER' }, { title: 'ADDRESS' }, { title: 'ACTION' }],
	...[
		{ title: 'OUTCOME', fit: 'wrap' as const },
		{ title: 'WHAT', fit: 'wrap' as const },
	],
];

const maxKept = 100_000;

/** More sentences of the same kind say nothing more. */
const maxSentences = 10;

function firstOf(sentences: readonly string[]): string[] {
	const left = sentences.length - maxSentences;
	return [...sentences.slice(0, maxSentences), ...(left > 0 ? [`... and ${left} more.`] : [])];
}

function limitOf(text: string | undefined): number | undefined {
	if (text === undefined) return undefined;
	const limit = Number(text);
	if (/^\d+$/.test(text) && limit >= 1 && limit <= maxKept) return limit;
	throw new Failure('invalid', `--limit: must be a whole number from 1 to ${maxKept}, not ${text}`);
}

/** All that either of two equal times may mean is shown. */
function spanOfOptions({ since, until }: AuditOptions, isUtc: boolean): { since?: number; until?: number } {
	const now = Date.now();
	const from = since === undefined ? undefined : timeOf('--since', since, { isUtc, ambiguous: 'first', now });
	const to = until === undefined ? undefined : timeOf('--until', until, { isUtc, ambiguous: 'second', now });
	if (from !== undefined && to !== undefined && from >= to) {
		const [begin, end] = [from, to].map((time) => localTimeText(time, isUtc));
		throw new Failure('invalid', `--since (${begin}) must be before --until (${end}).`);
	}
	return { ...(from === undefined ? {} : { since: from }), ...(to === undefined ? {} : { until: to }) };
}

function rowOf({ time, action, outcome, reason, address, ...record }: AuditRecord, isUtc: boolean): string[] {
	const timeText = (text: string) => localTimeText(Date.parse(text), isUtc);
	return [
		timeText(time),
		userText(record),
		address ?? '-',
		action,
		reason === undefined ? outcome : `${outcome} (${reason})`,
		[targetText(record), countText(record, timeText)].filter((part) => part !== '').join('  '),
	];
}

function userText({ user, job, actor, systemUser, uid }: Partial<AuditRecord>): string {
	if (systemUser !== undefined) return `administrator (${systemUser}${uid === undefined ? '' : `, uid ${uid}`})`;
	const name = user === null ? 'visitor' : (actor ?? accountText(user));
	return job === undefined ? name : `${name} (job)`;
}

/** What the column says of those without an account is no account's name. */
function accountText(user: string | undefined): string {
	return user !== undefined && /^(?:visitor|administrator)$/i.test(user) ? `account ${user}` : quoted(user ?? '-');
}

/**
 * What a name may have in common with what separates the parts of a line, or looks like it: any blank, also one that is none to a
 * pattern, beside which letters of other scripts look like `of`.
 */
const separating = /[\p{White_Space}\p{Default_Ignorable_Code_Point}\u2800"]|->/u;

/** A name, or what a client sent in place of an id, is in quotes if it is like that, so that it tells nothing of another user or item. */
function quoted(name: string): string {
	return separating.test(name) ? JSON.stringify(name) : name;
}

function placeText(area: string | undefined, path: string): string {
	return area === undefined ? quoted(path) : `${area}:${quoted(`/${path}`)}`;
}

function countText({ requests, first, last }: Partial<AuditRecord>, timeText: (text: string) => string): string {
	if (requests === undefined) return '';
	const times = plural(requests, 'time');
	return first === undefined || last === undefined ? times : `${times} from ${timeText(first)} to ${timeText(last)}`;
}

function targetText({ area, owner, path, to, toArea, toOwner, paths = [], ...record }: Partial<AuditRecord>): string {
	const { account, accountId, link, share, trash, kind, title, root, detail, entries, bytes, replaced, node } = record;
	const where = (path === undefined ? paths : [path]).map((each) => placeText(area, each)).join(', ');
	const whose = owner === undefined ? '' : ` of ${owner ?? 'the administrator'}`;
	const whoseTarget = toOwner === undefined ? '' : ` of ${toOwner}`;
	return [
		account === undefined ? accountId && `account ${quoted(accountId)}` : quoted(account),
		kind === undefined ? undefined : title === undefined ? kind : `${kind}: ${JSON.stringify(title)}`,
		root === undefined ? undefined : `root ${quoted(root)}`,
		where === '' && owner === undefined ? undefined : `${where}${whose}`.trimStart(),
		to === undefined ? undefined : `-> ${placeText(toArea ?? area, to)}${whoseTarget}`,
		replaced ? '(replaced)' : undefined,
		link === undefined ? undefined : `link ${quoted(link)}`,
		share === undefined ? undefined : `share ${quoted(share)}`,
		path !== undefined || trash === undefined ? undefined : `trash ${quoted(trash)}`,
		detail,
		entries === undefined ? undefined : plural(entries, 'entry', 'entries'),
		bytes === undefined ? undefined : isOnTerminal() ? formatListSize(bytes) : `${bytes} B`,
		node === undefined ? undefined : `at node ${quoted(node)}`,
	]
		.filter((part) => part !== undefined)
		.join('  ');
}
