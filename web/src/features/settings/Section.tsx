import { type ReactNode, type Ref, useId } from 'react';
import styles from './Section.module.css';

export interface SectionProps {
	title: string;
	/** The heading, which can be given the focus when the control that had it disappears. */
	titleRef?: Ref<HTMLHeadingElement>;
	children: ReactNode;
}

/** A named part of the settings. */
export function Section({ title, titleRef, children }: SectionProps) {
	const id = useId();
	return (
		<section className={styles.section} aria-labelledby={id}>
			<h3 className={styles.title} id={id} {...(titleRef ? { ref: titleRef, tabIndex: -1 } : {})}>
				{title}
			</h3>
			{children}
		</section>
	);
}
