import type { Config } from '../config/schema.js';
import { limitAddress } from '../http/requests/proxy.js';
import { type AuditClass, classOf } from './auditClasses.js';
import type { AuditEntry } from './auditLine.js';
import { bounded, type Counted, entryOf, merged, shortened } from './counted.js';
import { LineBudgets } from './LineBudgets.js';
import { Sums } from './Sums.js';

/** How long the sums of a flood wait for more. What a killed process has only counted since then is missing. */
const sumMs = 15 * 60_000;

/**
 * Sums of one origin at the same time that differ in reason, address or account. What it does beside that is counted by action and
 * outcome only.
 */
const maxOfOrigin = 8;

interface Dependencies {
	config: Pick<Config, 'audit' | 'workers'>;
	/** Milliseconds of a monotonic clock. */
	monotonic(): number;
	write(of: AuditClass, entry: AuditEntry): void;
	/** The length of its line. */
	bytesOf(entry: AuditEntry): number;
}

export interface Floods {
	/** Writes a line while its origin, and all of its class together, have room for it. After that it becomes a part of a sum. */
	write(counted: Counted): void;
	/** Writes the sums that wait, as far as there is room for them. */
	writeSums(): void;
	/** Writes all that waits. */
	endAll(): void;
	/** Says what was written before the server began. */
	resume: LineBudgets['resume'];
}

interface Flood {
	of: AuditClass;
	counted: Counted;
}

/**
 * Keeps what one account or address does from filling the log: above its budget its events are counted by action and outcome, and where
 * there are too many such accounts and addresses, all of them together.
 */
export function createFloods({ config, monotonic, write, bytesOf }: Dependencies): Floods {
	const budgets = new LineBudgets(config, monotonic);
	const merge = (sum: Flood, next: Flood): Flood => ({ of: sum.of, counted: merged(sum.counted, next.counted) });

	let isEnding = false;
	/** The sums of all origins: by action and outcome. In a log that may take next to nothing they wait until they may be written. */
	const crowds = new Sums<Flood>({
		...{ monotonic, spanMs: sumMs, merge },
		write({ of, counted }) {
			const entry = entryOf(shortened(counted));
			if (budgets.takeCrowd(of, bytesOf(entry)) || isEnding) write(of, entry);
			else addToCrowd({ of, counted });
		},
	});
	const addToCrowd = ({ of, counted }: Flood) => {
		const { action, outcome } = counted.entry;
		crowds.add(JSON.stringify([of, action, outcome]), { of, counted });
	};

	const sums = new Sums<Flood>({
		...{ monotonic, spanMs: sumMs, merge },
		write({ of, counted }) {
			const entry = entryOf(shortened(counted));
			if (budgets.take(of, 'sums', counted.origin ?? originKey(entry), bytesOf(entry))) write(of, entry);
			else addToCrowd({ of, counted });
		},
	});
	const addToSum = (flood: Flood, origin: string) => {
		const { of, counted } = flood;
		const { action, outcome, reason, address, account } = counted.entry;
		const key = JSON.stringify([of, origin, action, outcome, reason, address, account]);
		if (sums.get(key) === undefined && sums.isFull) return addToCrowd(flood);
		if (sums.get(key) !== undefined || sums.countOf(origin) < maxOfOrigin) return sums.add(key, flood, origin);
		sums.add(JSON.stringify([of, origin, action, outcome]), flood, origin);
	};

	const floods: Floods = {
		write(counted) {
			const entry = entryOf(counted);
			const of = classOf(entry);
			const isOrder = entry.actor === 'administrator' && of === 'security';
			const origin = counted.origin ?? originKey(entry);
			if (isOrder || budgets.take(of, 'lines', origin, bytesOf(entry))) write(of, entry);
			else addToSum({ of, counted: bounded(counted) }, `${of} ${origin}`);
		},
		writeSums() {
			sums.endAll();
			crowds.endAll();
		},
		endAll() {
			isEnding = true;
			floods.writeSums();
			isEnding = false;
		},
		resume: (...before) => budgets.resume(...before),
	};
	return floods;
}

/** Whose budget a line counts to: an account's wherever it is used, or a visitor's address. */
function originKey({ actor, userId, address }: AuditEntry): string {
	return actor ?? userId ?? (address === undefined ? 'server' : limitAddress(address));
}
