import type { Config } from '../config/schema.js';
import { limitAddress, siteKey } from '../http/requests/proxy.js';
import { Aggregator } from './Aggregator.js';
import { type Aggregate, bounded, entryOf, merged, shortened } from './aggregate.js';
import { type AuditClass, classOf } from './auditClasses.js';
import type { AuditEntry } from './auditLine.js';
import { LineBudgets, type LineSource, maxFirstBytes } from './LineBudgets.js';

/** How long an aggregate waits for more. What a process that is killed has only aggregated is lost. */
const aggregateMs = 15 * 60_000;

/**
 * Aggregates of one source at the same time that differ in reason, address or account. What it does beside that is aggregated by action
 * and outcome only.
 */
const maxOfSource = 8;

/** Those of all networks of a site at the same time. What it does beside these is aggregated by action and outcome for the site. */
const maxOfSite = 4 * maxOfSource;

interface Dependencies {
	config: Pick<Config, 'audit' | 'workers'>;
	/** Milliseconds of a monotonic clock. */
	monotonic(): number;
	write(auditClass: AuditClass, entry: AuditEntry): void;
	/** The length of its line. */
	bytesOf(entry: AuditEntry): number;
}

export interface LineThrottle {
	/** Writes a line while the budgets of its source and of its class have room for it. After that it becomes a part of an aggregate. */
	write(aggregate: Aggregate): void;
	/** Writes the aggregates that wait, as far as the budgets have room for them. */
	writeAggregates(): void;
	/** Writes all that waits. */
	endAll(): void;
	/** Says what was written before the server began. */
	resume: LineBudgets['resume'];
	/** Says what others have written since. */
	addOthers: LineBudgets['addOthers'];
}

interface ClassifiedAggregate {
	auditClass: AuditClass;
	aggregate: Aggregate;
}

/**
 * Keeps what one source, that is an account or an address, does from filling the log: above its budget its events are aggregated by
 * action and outcome, and where there are too many such sources, those of all sources together.
 */
export function createLineThrottle({ config, monotonic, write, bytesOf }: Dependencies): LineThrottle {
	const budgets = new LineBudgets(config, monotonic);
	const merge = (a: ClassifiedAggregate, b: ClassifiedAggregate): ClassifiedAggregate => ({
		auditClass: a.auditClass,
		aggregate: merged(a.aggregate, b.aggregate),
	});

	let isEnding = false;
	/** Aggregates over all sources, by action and outcome. In a log with a tiny limit they wait until they may be written. */
	const totals = new Aggregator<ClassifiedAggregate>({
		...{ monotonic, spanMs: aggregateMs, merge },
		write({ auditClass, aggregate }) {
			const entry = entryOf(shortened(aggregate));
			if (budgets.takeTotal(auditClass, bytesOf(entry)) || isEnding) write(auditClass, entry);
			else addToTotal({ auditClass, aggregate });
		},
	});
	const addToTotal = ({ auditClass, aggregate }: ClassifiedAggregate) => {
		const { action, outcome } = aggregate.entry;
		totals.add(JSON.stringify([auditClass, action, outcome]), { auditClass, aggregate });
	};

	const aggregates = new Aggregator<ClassifiedAggregate>({
		...{ monotonic, spanMs: aggregateMs, merge },
		write({ auditClass, aggregate }) {
			const entry = entryOf(shortened(aggregate));
			const source = sourceOf(entry, aggregate);
			if (budgets.take(auditClass, 'aggregates', source, bytesOf(entry))) write(auditClass, entry);
			else addToTotal({ auditClass, aggregate });
		},
	});
	const addToAggregate = ({ auditClass, aggregate }: ClassifiedAggregate, { name, site }: LineSource) => {
		const { action, outcome, reason, address, account } = aggregate.entry;
		const [own, whole] = [name, site ?? name].map((each) => `${auditClass} ${each}`) as [string, string];
		const keys = {
			detailed: JSON.stringify([own, action, outcome, reason, address, account]),
			coarse: JSON.stringify([own, action, outcome]),
			ofSite: JSON.stringify([whole, action, outcome]),
		};
		const isKept = (key: string) => aggregates.get(key) !== undefined;
		const hasRoom = (group: string, most: number) => aggregates.countOf(group) < most;
		const isOfSite = site !== undefined && !hasRoom(whole, maxOfSite);
		const isDetailed = isKept(keys.detailed) || (hasRoom(own, maxOfSource) && !isOfSite);
		const key = isDetailed ? keys.detailed : isOfSite && !isKept(keys.coarse) ? keys.ofSite : keys.coarse;
		if (!isKept(key) && aggregates.isFull) return addToTotal({ auditClass, aggregate });
		aggregates.add(key, { auditClass, aggregate }, new Set(key === keys.ofSite ? [whole] : [own, whole]));
	};

	const throttle: LineThrottle = {
		write(aggregate) {
			const entry = entryOf(aggregate);
			const auditClass = classOf(entry);
			const isAlwaysWritten = entry.actor === 'administrator' && auditClass === 'security';
			const source = sourceOf(entry, aggregate);
			const takeRoomFor = (line: AuditEntry) => budgets.take(auditClass, 'lines', source, bytesOf(line));
			if (isAlwaysWritten || takeRoomFor(entry)) return write(auditClass, entry);
			const short = entryOf(shortened(aggregate));
			if (bytesOf(entry) > maxFirstBytes && takeRoomFor(short)) write(auditClass, short);
			else addToAggregate({ auditClass, aggregate: bounded(aggregate) }, source);
		},
		writeAggregates() {
			aggregates.endAll();
			totals.endAll();
		},
		endAll() {
			isEnding = true;
			throttle.writeAggregates();
			isEnding = false;
		},
		resume: (...before) => budgets.resume(...before),
		addOthers: (...since) => budgets.addOthers(...since),
	};
	return throttle;
}

/** Whose budget a line counts to: an account's wherever it is used, or a visitor's address. */
function sourceOf({ actor, userId, address }: AuditEntry, { source }: Pick<Aggregate, 'source'>): LineSource {
	const named = source ?? actor ?? userId;
	if (named !== undefined || address === undefined) return { name: named ?? 'server' };
	const network = limitAddress(address);
	const site = siteKey(network);
	return site === network && !network.endsWith('/48') ? { name: network } : { name: network, site };
}
