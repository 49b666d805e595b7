import { access } from './access.js';
import { administration } from './administration.js';
import { answers } from './answers.js';
import { caching } from './caching.js';
import { errors } from './errors.js';
import { flags } from './flags.js';
import { guards } from './guards.js';
import { names } from './names.js';
import { peers } from './peers.js';
import { reading } from './reading.js';
import { signals } from './signals.js';
import { stores } from './stores.js';
import { windows } from './windows.js';
import type { Section } from './section.js';

/** The specification, part by part. */
export const sections: readonly Section[] = [
  reading,
  administration,
  answers,
  names,
  access,
  errors,
  guards,
  caching,
  stores,
  windows,
  peers,
  signals,
  flags,
];

/** The lines of the specification that describe a running proxy; the others are headings, or leave something open. */
export const checkable = [
  ...[
    '8-19, 27-35, 40-45, 49-52, 60-61, 67-69, 71, 77-79, 81, 83, 87-93, 99-102, 104, 110-116, 120-125, 129-133',
  ],
  ...[
    '138-142, 149-151, 155, 161-194, 196, 204-207, 209, 219-232, 242-245, 251-253, 259, 265-275, 277, 283-289',
  ],
  ...[
    '291, 297-302, 306, 310-313, 315, 317, 321-334, 338, 340, 346-356, 358, 360, 362, 368-383, 385, 387, 389',
  ],
  ...[
    '391, 393, 395, 399, 405-420, 422, 430-438, 444-449, 451, 457-462, 470-475, 477-482, 488-513, 515, 521-531',
  ],
  ...['537-548, 550, 554, 560-562, 564, 568-573'],
].join(', ');
