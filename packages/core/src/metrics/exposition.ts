/**
 * The text format 0.0.4 of Prometheus. A hundred lines here: the usual library brings a tracing API and quantile sketches that nothing
 * here uses.
 */

export type Labels = Readonly<Record<string, string>>;

/** A metric with all that was read of it at one moment. */
export interface Family {
	name: string;
	type: 'counter' | 'gauge' | 'histogram';
	help: string;
	/** In the order of the text; those of a histogram have the suffixes `_bucket`, `_sum` and `_count`. */
	values: readonly FamilyValue[];
}

export interface FamilyValue {
	suffix: '' | '_bucket' | '_sum' | '_count';
	labels: Labels;
	value: number;
}

interface Metric extends Omit<Family, 'values'> {
	values(): Iterable<FamilyValue>;
}

export const contentType = 'text/plain; version=0.0.4; charset=utf-8';

/** The counter of one set of labels. Frequent callers keep it, since finding it costs more than counting. */
export interface Counter {
	of(labels: Labels): { add(amount?: number): void };
}

export interface Histogram {
	of(labels: Labels): { observe(value: number): void };
}

/** A value that is read at the scrape, by its labels. */
export type Sample = readonly [Labels, number];

/**
 * The metrics of a process, in the order in which they were made. Labels are words that are few: routes, kinds, names that the
 * administrator gave.
 */
export class Exposition {
	readonly #metrics: Metric[] = [];

	counter(name: string, help: string): Counter {
		const cells = new Map<string, { labels: Labels; value: number; add(amount?: number): void }>();
		function* values(): Generator<FamilyValue> {
			for (const { labels, value } of cells.values()) yield { suffix: '', labels, value };
		}
		this.#metrics.push({ name, type: 'counter', help, values });
		return {
			of(labels) {
				const key = labelText(labels);
				const cell = cells.get(key) ?? {
					labels,
					value: 0,
					add(amount = 1) {
						this.value += amount;
					},
				};
				cells.set(key, cell);
				return cell;
			},
		};
	}

	histogram(name: string, help: string, bounds: readonly number[]): Histogram {
		const observed = new Map<string, { counts: number[]; sum: number; labels: Labels }>();
		function* values(): Generator<FamilyValue> {
			for (const { counts, sum, labels } of observed.values()) {
				let total = 0;
				for (const [index, count] of counts.entries()) {
					total += count;
					const le = index < bounds.length ? String(bounds[index]) : '+Inf';
					yield { suffix: '_bucket', labels: { ...labels, le }, value: total };
				}
				yield { suffix: '_sum', labels, value: sum };
				yield { suffix: '_count', labels, value: total };
			}
		}
		this.#metrics.push({ name, type: 'histogram', help, values });
		return {
			of(labels) {
				const key = labelText(labels);
				const cell = observed.get(key) ?? { counts: Array<number>(bounds.length + 1).fill(0), sum: 0, labels };
				observed.set(key, cell);
				return {
					observe(value) {
						const at = bounds.findIndex((bound) => value <= bound);
						const index = at === -1 ? bounds.length : at;
						cell.counts[index] = (cell.counts[index] ?? 0) + 1;
						cell.sum += value;
					},
				};
			},
		};
	}

	/** All metrics, with freshly read samples. */
	families(collected: readonly Collected[]): Family[] {
		return [
			...this.#metrics.map(({ values, ...metric }) => ({ ...metric, values: [...values()] })),
			...collected.map(({ samples, ...metric }) => ({
				...metric,
				values: samples.map(([labels, value]): FamilyValue => ({ suffix: '', labels, value })),
			})),
		];
	}
}

/** A family whose samples are read at the scrape. */
export interface Collected {
	name: string;
	type: 'counter' | 'gauge';
	help: string;
	samples: readonly Sample[];
}

/** The families in the text format. */
export function expositionText(families: readonly Family[]): string {
	let text = '';
	for (const { name, type, help, values } of families) {
		text += `# HELP ${name} ${help.replace(/\\/g, '\\\\').replace(/\n/g, '\\n')}\n# TYPE ${name} ${type}\n`;
		for (const { suffix, labels, value } of values)
			text += `${name}${suffix}${labelText(labels)} ${numberText(value)}\n`;
	}
	return text;
}

/**
 * The metrics of several processes as one: counters and histograms are summed, a gauge keeps the value of each, with
 * its name as the label `worker`. `former` are counts of processes that have ended, which count on.
 */
export function sumFamilies(workers: ReadonlyMap<string, readonly Family[]>, former: readonly Family[] = []): Family[] {
	const sums = new Map<string, Omit<Family, 'values'> & { values: Map<string, FamilyValue> }>();
	const add = (family: Family, worker: string | undefined) => {
		const { name, type, help } = family;
		if (worker === undefined && type === 'gauge') return;
		const sum = sums.get(name) ?? { name, type, help, values: new Map<string, FamilyValue>() };
		sums.set(name, sum);
		for (const { suffix, labels: own, value } of family.values) {
			const labels = type === 'gauge' && worker !== undefined ? { ...own, worker } : own;
			const key = `${suffix}${labelText(labels)}`;
			sum.values.set(key, { suffix, labels, value: value + (sum.values.get(key)?.value ?? 0) });
		}
	};
	for (const [worker, families] of workers) for (const family of families) add(family, worker);
	for (const family of former) add(family, undefined);
	return [...sums.values()].map(({ values, ...family }) => ({ ...family, values: [...values.values()] }));
}

function labelText(labels: Labels): string {
	const entries = Object.entries(labels);
	if (entries.length === 0) return '';
	const escaped = (text: string) => text.replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/\n/g, '\\n');
	return `{${entries.map(([name, value]) => `${name}="${escaped(value)}"`).join(',')}}`;
}

function numberText(value: number): string {
	if (Number.isNaN(value)) return 'NaN';
	return Number.isFinite(value) ? String(value) : value > 0 ? '+Inf' : '-Inf';
}
