/**
 * The text format 0.0.4 of Prometheus. A hundred lines here: the usual library brings a tracing API and quantile sketches that nothing
 * here uses.
 */

type Labels = Readonly<Record<string, string>>;

interface Family {
	name: string;
	type: 'counter' | 'gauge' | 'histogram';
	help: string;
	lines(): Iterable<string>;
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
 * The families of a process, in the order in which they were made. Labels are words that are few: routes, kinds, names that the
 * administrator gave.
 */
export class Exposition {
	readonly #families: Family[] = [];

	counter(name: string, help: string): Counter {
		const cells = new Map<string, { value: number; add(amount?: number): void }>();
		function* lines() {
			for (const [key, { value }] of cells) yield `${name}${key} ${numberText(value)}`;
		}
		this.#families.push({ name, type: 'counter', help, lines });
		return {
			of(labels) {
				const key = labelText(labels);
				const cell = cells.get(key) ?? {
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
		const values = new Map<string, { counts: number[]; sum: number; labels: Labels }>();
		function* lines() {
			for (const [key, { counts, sum, labels }] of values) {
				let total = 0;
				for (const [index, count] of counts.entries()) {
					total += count;
					const le = index < bounds.length ? String(bounds[index]) : '+Inf';
					yield `${name}_bucket${labelText({ ...labels, le })} ${total}`;
				}
				yield `${name}_sum${key} ${numberText(sum)}`;
				yield `${name}_count${key} ${total}`;
			}
		}
		this.#families.push({ name, type: 'histogram', help, lines });
		return {
			of(labels) {
				const key = labelText(labels);
				const cell = values.get(key) ?? { counts: Array<number>(bounds.length + 1).fill(0), sum: 0, labels };
				values.set(key, cell);
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

	/** The whole text, with freshly read samples. */
	text(collected: readonly Collected[]): string {
		const asked = collected.map(
			({ samples, ...family }): Family => ({
				...family,
				lines: () =>
					valueLines(
						family.name,
						samples.map(([labels, value]) => [labelText(labels), value]),
					),
			}),
		);
		let text = '';
		for (const { name, type, help, lines } of [...this.#families, ...asked]) {
			text += `# HELP ${name} ${help.replace(/\\/g, '\\\\').replace(/\n/g, '\\n')}\n# TYPE ${name} ${type}\n`;
			for (const line of lines()) text += `${line}\n`;
		}
		return text;
	}
}

/** A family whose samples are read at the scrape. */
export interface Collected {
	name: string;
	type: 'counter' | 'gauge';
	help: string;
	samples: readonly Sample[];
}

function* valueLines(name: string, values: Iterable<readonly [string, number]>): Generator<string> {
	for (const [key, value] of values) yield `${name}${key} ${numberText(value)}`;
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
