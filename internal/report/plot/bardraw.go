package plot

// groups draws the bars from the top.
func (b Bars) groups(c *canvas, x scale, left float64) {
	thick, y := b.thickness(), float64(topMargin+groupGap)
	for i, g := range b.Groups {
		if i > 0 {
			c.line("grid", 0, y-groupGap/2, x.to, y-groupGap/2)
		}
		height := b.groupHeight(g)
		c.name(g.Name, y+height/2)
		at := y + (height-b.barsHeight(g))/2
		for _, bar := range g.Bars {
			b.bar(c, bar, x, at, left)
			at += thick + barGap
		}
		y += height + groupGap
	}
}

// name writes a group's name, in lines centred on y.
func (c *canvas) name(name string, y float64) {
	lines := wrap(name, groupNameChars)
	for i, line := range lines {
		c.text("", "start", 0, y+4+(float64(i)-float64(len(lines)-1)/2)*nameRow, line)
	}
}

// bar draws one bar whose upper edge is at y.
func (b Bars) bar(c *canvas, bar Bar, x scale, y, left float64) {
	thick := b.thickness()
	middle := y + thick/2
	c.text("soft", "end", left-6, middle+4, bar.Label)
	sum := 0.0
	for _, p := range bar.Parts {
		if p.Value > 0 {
			c.hatched(b.Kinds[p.Kind], x.at(sum), y, x.at(sum+p.Value)-x.at(sum), thick)
		}
		sum += p.Value
	}
	end := x.at(sum)
	for i, d := range bar.Dots {
		c.circle("trial", x.at(d), middle+(float64(i%3)-1)*thick*.3, 1.9)
		end = max(end, x.at(d)+2)
	}
	if bar.CI != nil {
		lo, hi := x.at(max(0, bar.CI[0])), x.at(bar.CI[1])
		c.level("under", lo, hi, middle)
		c.level("whisker", lo, hi, middle)
		end = max(end, hi)
	}
	c.text("halo", "start", end+8, middle+4, bar.Text)
}

// level draws an error bar that lies.
func (c *canvas) level(class string, lo, hi, y float64) {
	c.line(class, lo, y, hi, y)
	c.line(class, lo, y-4, lo, y+4)
	c.line(class, hi, y-4, hi, y+4)
}

// entries explain the kinds that are there.
func (b Bars) entries(c *canvas) (out []entry) {
	shown := b.shown()
	for i, k := range b.Kinds {
		if !shown[i] {
			continue
		}
		out = append(out, entry{k.Name, func(x, y float64) { c.hatched(k, x, y-6, sampleWidth, 12) }})
	}
	return out
}
