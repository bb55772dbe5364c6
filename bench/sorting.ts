import { sortEntries } from '@stowage/rules';
import type { Suite } from './Workload.js';

const lists = [
	['names of pictures', 'IMG_', 100_000],
	['names with accents', 'Été ', 40_000],
	['Cyrillic names', 'Фото ', 40_000],
] as const;

/** The order of names, in this process, against the collator of the runtime; compared by the time of the processor. */
export const sorting: Suite = {
	name: 'sorting',
	async *workloads({ scale }) {
		const collator = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });
		for (const [what, beginning, whole] of lists) {
			const count = Math.round(whole * scale);
			const entries = Array.from({ length: count }, (_, index) => {
				const name = `${beginning}${(index * 7919) % 100_003} holiday.jpg`;
				return { name, path: name, type: 'file' as const, size: 0, mtime: 0 };
			});
			const reference = {
				name: 'Intl.Collator',
				run: async () => [processorMs(() => [...entries].sort((a, b) => collator.compare(a.name, b.name)))],
			};
			// A list of its own each time, since the order of names is remembered with the list.
			let fresh = [...entries];
			const common = { by: 'latency', amount: { count, unit: 'entry' }, pid: process.pid, reference } as const;
			const sizes = count.toLocaleString('en');
			yield {
				...common,
				name: `sort ${sizes} ${what}`,
				async stowage() {
					fresh = [...entries];
					return [processorMs(() => sortEntries(fresh, 'type'))];
				},
				async end() {},
			};
			yield {
				...common,
				name: `the same once more, by another column: ${what}`,
				stowage: async () => [processorMs(() => sortEntries(fresh, 'size'))],
				async end() {},
			};
		}
	},
};

function processorMs(work: () => unknown): number {
	const before = process.cpuUsage();
	work();
	const { user, system } = process.cpuUsage(before);
	return (user + system) / 1000;
}
