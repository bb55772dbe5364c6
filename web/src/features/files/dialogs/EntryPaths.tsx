import { dialogPaths, type Entry } from '@stowage/rules';
import styles from './dialogs.module.css';

/** What a dialog is about: at most five paths, then how many more. */
export function EntryPaths({ entries }: { entries: readonly Entry[] }) {
	return (
		<ul className={styles.paths}>
			{dialogPaths(entries.map(({ path }) => path)).map((line) => (
				<li key={line}>{line}</li>
			))}
		</ul>
	);
}
