import type { View } from '../../../ui/useView.js';
import styles from './FileList.module.css';

const nameWidths = [38, 24, 52, 31, 45, 28, 60, 35, 42, 22, 48, 33];

export interface FileSkeletonsProps {
	view: View;
}

/** Placeholders for the entries while they are loading. */
export function FileSkeletons({ view }: FileSkeletonsProps) {
	if (view === 'grid') {
		return (
			<div className={`${styles.skeletons} ${styles.skeletonTiles}`} aria-hidden="true">
				{nameWidths.map((width) => (
					<div key={width} className={styles.skeletonTile}>
						<span className={`${styles.skeleton} ${styles.skeletonPicture}`} />
						<span className={styles.skeleton} style={{ width: `${width + 20}%` }} />
					</div>
				))}
			</div>
		);
	}
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
