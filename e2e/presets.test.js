// The token contracts of the chain presets, against public token lists.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";

const require = createRequire(import.meta.url);
const optimism = require("@eth-optimism/tokenlist").default.tokens;
const superfluid = JSON.parse(
  readFileSync(require.resolve("@superfluid-finance/tokenlist/package.json").replace("package.json", "dist/superfluid.extended.tokenlist.json"), "utf8"),
).tokens;
const listed = [...optimism, ...superfluid];

// Test networks that neither list has.
const UNLISTED = ["amoy", "arbitrum-sepolia"];

function presets() {
  const sections = readFileSync(new URL("../crates/config/presets.toml", import.meta.url), "utf8").split(/^\[/m).slice(1);
  return sections.map((section) => {
    const name = section.slice(0, section.indexOf("]"));
    const value = (key) => section.match(new RegExp(`^${key} = "?([^"\n]*)"?$`, "m"))?.[1];
    return { name, chainId: Number(value("chain_id")), USDC: value("usdc"), USDT: value("usdt") };
  });
}

test("presets name the token contracts that public lists name", () => {
  const unlisted = [];
  for (const preset of presets()) {
    assert.ok(preset.chainId > 0 && preset.USDC, preset.name);
    for (const symbol of ["USDC", "USDT"].filter((symbol) => preset[symbol])) {
      const known = listed.filter((token) => token.chainId === preset.chainId && token.symbol === symbol);
      if (known.length === 0) unlisted.push(preset.name);
      for (const token of known) {
        assert.equal(token.address.toLowerCase(), preset[symbol].toLowerCase(), `${preset.name} ${symbol}`);
        assert.equal(token.decimals, 6, `${preset.name} ${symbol}`);
      }
    }
  }
  assert.deepEqual(unlisted.sort(), UNLISTED);
});
