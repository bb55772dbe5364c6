import styles from './FileList.module.css';

const nameWidths = [38, 24, 52, 31, 45, 28, 60, 35, 42, 22, 48, 33];

/** Placeholders for the rows while they are loading. */
export function FileSkeletons() {
	return (
		<div className={styles.skeletons} aria-hidden="true">
			{nameWidths.map((width) => (
				<div key={width} className={styles.skeletonRow}>
					<span className={styles.type}>
						<span className={styles.skeleton} style={{ width: 16, height: 16 }} />
					</span>
					<span className={styles.nameCell}>
						<span className={styles.skeleton} style={{ width: `${width}%` }} />
					</span>
					<span />
					<span className={styles.size}>
						<span className={styles.skeleton} style={{ width: 48, marginLeft: 'auto' }} />
					</span>
					<span className={styles.date}>
						<span className={styles.skeleton} style={{ width: 72 }} />
					</span>
				</div>
			))}
		</div>
	);
}
