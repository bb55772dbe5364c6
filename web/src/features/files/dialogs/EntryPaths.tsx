import { dialogPaths, shownName } from '@stowage/rules';
import styles from './dialogs.module.css';

/** The paths of a dialog's entries: at most five, then the number of further ones. */
export function EntryPaths({ entries }: { entries: readonly { path: string }[] }) {
	return (
		<ul className={styles.paths}>
			{dialogPaths(entries.map(({ path }) => path)).map((line) => (
				<li key={line}>{shownName(line)}</li>
			))}
		</ul>
	);
}
