import { HTMLSelect } from '@blueprintjs/core';
import { type SizeDraft, sizeUnits, unitOf, withUnit } from './sizes.js';
import styles from './UnitSelect.module.css';

export interface UnitSelectProps {
	/** The accessible name. */
	name: string;
	size: SizeDraft;
	onSize: (size: SizeDraft) => void;
}

/** The unit of a size, which is also typed: at the end of its field. */
export function UnitSelect({ name, size, onSize }: UnitSelectProps) {
	return (
		<HTMLSelect
			minimal
			className={styles.unit}
			aria-label={name}
			value={unitOf(size) ?? size.unit}
			onChange={({ currentTarget }) => {
				const unit = sizeUnits.find((each) => each === currentTarget.value);
				if (unit) onSize(withUnit(size, unit));
			}}
			options={sizeUnits}
		/>
	);
}
